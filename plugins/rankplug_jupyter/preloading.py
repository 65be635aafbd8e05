"""Imports of the process that kernels are forked from, and steps that make a fork as good as a fresh process.

Nothing here may start a thread that computes or an OpenMP region: GNU's OpenMP runtime hangs in a process that was
forked after one. Imports alone start none once OpenBLAS is told to begin with one thread.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from collections.abc import Callable, Mapping

MODULES = (
    "numpy",
    "scipy.stats",
    "pandas",
    "pyarrow.parquet",
    "torch",
    "sklearn.base",
    "lightgbm",
    "xgboost",
    "numba",
    "matplotlib.pyplot",
    "matplotlib.backends.backend_agg",
    "seaborn",
    "ipykernel.ipkernel",
    "ipykernel.kernelapp",
    "ipykernel.debugger",
    "IPython.core.completerlib",
    "IPython.core.debugger",
    "IPython.extensions.storemagic",
    "tornado.platform.asyncio",
    "ipywidgets",
    "rankplug",
    "pandas.io.formats.style",
    "rankplug.training.fitting",
    "rankplug.report.tour",
)
ASK_WHERE_THEY_ARE = ("tqdm.auto", "tqdm.autonotebook")
"""Modules that look at import whether they are in a notebook; a kernel imports them itself."""

READ_AT_IMPORT = (
    "PYTHON",
    "LD_",
    "OMP_",
    "GOMP_",
    "KMP_",
    "OPENBLAS_",
    "MKL_",
    "NUMBA_",
    "TORCH",
    "CUDA",
    "MPLCONFIGDIR",
    "RANKPLUG_CACHE",
    "RANKPLUG_PRELOAD",
    "TZ",
    "LANG",
    "LC_",
    "VIRTUAL_ENV",
)
"""Beginnings of environment variables that are read when something is imported."""


def import_environment(environment: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Return the variables that must be equal in the preloaded process and in a kernel forked from it."""
    return tuple(sorted((name, value) for name, value in environment.items() if name.startswith(READ_AT_IMPORT)))


WHILE_PRELOADING = {"OPENBLAS_NUM_THREADS": "1", "PYDEVD_DISABLE_FILE_VALIDATION": "1"}
"""Kernels have environments of their own, so these reach no notebook."""


def preload(is_wanted: Callable[[], bool] = lambda: True) -> list[str]:
    """Import the installed ones of :data:`MODULES`, or those listed by ``RANKPLUG_PRELOAD``, and find the plugins.

    Args:
        is_wanted: is asked before each whether to go on.
    """
    os.environ |= WHILE_PRELOADING
    chosen = os.environ.get("RANKPLUG_PRELOAD")
    loaded: list[str] = []
    for name in MODULES if chosen is None else chosen.split(","):
        if not is_wanted():
            return loaded
        # A package that is absent or broken is the notebook's to find out.
        with contextlib.suppress(Exception):
            importlib.import_module(name)
            loaded.append(name)
    if "rankplug.registry.plugins" in sys.modules:
        sys.modules["rankplug.registry.plugins"].registry()
    for name in ASK_WHERE_THEY_ARE:
        sys.modules.pop(name, None)
    return loaded


def become_fresh() -> None:
    """Give a forked process the state of a fresh one: random states, BLAS threads, a matplotlib backend."""
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed()
    if "torch" in sys.modules:
        sys.modules["torch"].seed()
    if "threadpoolctl" in sys.modules:
        wanted = _blas_threads()
        for library in sys.modules["threadpoolctl"].ThreadpoolController().lib_controllers:
            if library.internal_api == "openblas":
                library.set_num_threads(wanted)


def use_notebook_figures() -> None:
    """Let a preloaded matplotlib draw into the notebook, once the kernel's shell is there."""
    if "matplotlib" in sys.modules:
        sys.modules["matplotlib"].rcParams["backend"] = os.environ["MPLBACKEND"]


def _blas_threads() -> int:
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        if os.environ.get(name, "").isdigit():
            return int(os.environ[name])
    return len(os.sched_getaffinity(0))
