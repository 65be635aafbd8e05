"""Sweeps on a Dask cluster, and training of one model on it, ``rankplug.fit_on_cluster``."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
