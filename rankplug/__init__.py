"""Learning to rank in which every loss, sampler, scorer and backend is a plugin.

Everything public is an attribute of this package, imported at first use; ``__init__.pyi`` lists it.
"""

import importlib
import importlib.util
from typing import Any

import lazy_loader

from rankplug.system.thread_limits import let_pools_wait as _let_pools_wait

_let_pools_wait()
_own, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    if name in __all__:
        return _own(name)
    if name.startswith("_"):
        raise AttributeError(f"module 'rankplug' has no attribute {name!r}")
    if importlib.util.find_spec(f"rankplug.{name}") is not None:
        return importlib.import_module(f"rankplug.{name}")
    from rankplug.registry import registry

    try:
        value = globals()[name] = registry().exported(name)
    except AttributeError:
        raise AttributeError(f"module 'rankplug' has no attribute {name!r}") from None
    return value
