"""The numba toolbox: functions of one list, lifted over all lists."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
