"""The contracts that plugins must keep, as tests an author inherits.

>>> from rankplug.testing import LossContract
>>> class TestMyLoss(LossContract):
...     loss = "cross_entropy"

The checks themselves need no pytest: ``rankplug check`` runs them too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rankplug.testing.contracts import BackendContract as BackendContract
    from rankplug.testing.contracts import DatasetContract as DatasetContract
    from rankplug.testing.contracts import LossContract as LossContract
    from rankplug.testing.contracts import MetricContract as MetricContract
    from rankplug.testing.contracts import SamplerContract as SamplerContract
    from rankplug.testing.contracts import ScorerContract as ScorerContract


def __getattr__(name: str) -> Any:
    if not name.endswith("Contract"):
        raise AttributeError(f"module 'rankplug.testing' has no attribute {name!r}")
    from rankplug.testing import contracts

    return getattr(contracts, name)
