"""Runs and judgements of TREC's tools, and models as steps of PyTerrier's pipelines."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
