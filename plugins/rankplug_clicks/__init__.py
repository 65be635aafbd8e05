"""Clicks: counting them by position, simulating them, and learning from them without the bias of positions."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
