"""The contracts that plugins must keep, as tests an author inherits.

>>> from rankplug.testing import LossContract
>>> class TestMyLoss(LossContract):
...     loss = "cross_entropy"
"""

from __future__ import annotations

from rankplug.testing.loss_contract import LossContract as LossContract
