"""The report: a folder of plain HTML pages that needs no network, with every figure and table beside it as files."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
