"""Training of one model on a Dask cluster, ``rankplug.fit_on_cluster``."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
