"""The contracts that plugins must keep, as tests an author inherits.

>>> from rankplug.testing import LossContract
>>> class TestMyLoss(LossContract):
...     loss = "cross_entropy"

The checks themselves need no pytest: ``rankplug check`` runs them too.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
