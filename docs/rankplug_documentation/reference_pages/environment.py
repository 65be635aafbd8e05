"""The page of environment variables."""

from __future__ import annotations

from rankplug.system import WAITING
from rankplug_documentation.parameter_table import table

VARIABLES = {
    "RANKPLUG_CACHE": (
        "Folder of prepared data and compiled code, which no other user may write. All of it can be made again.",
        "the user's cache folder",
    ),
    "RANKPLUG_DATA": (
        "Folders that hold archives or unpacked data sets, separated as in `PATH`.",
        "none",
    ),
    "RANKPLUG_MIRRORS": (
        "Addresses of folders that hold the files of public data sets under the names of the catalogue, separated by"
        " spaces. They are tried in turn after the files' own; digests are checked all the same.",
        "none",
    ),
    "RANKPLUG_RESULTS": (
        "Folder of the results of sweeps.",
        "`results` in the project's root, see [sweeps](../sweeps.md#where-results-go)",
    ),
    "RANKPLUG_THREADS": (
        "Threads that each engine may use at most, a whole number of at least 1.",
        "`OMP_NUM_THREADS`, or else all cores the process may run on, fewer while other programs compute",
    ),
    "RANKPLUG_WITHOUT": (
        "Distributions whose plugins are not loaded, separated by commas.",
        "all are loaded",
    ),
    "RANKPLUG_PRELOAD": (
        "Modules that `papermill --engine rankplug` imports before it forks a kernel, separated by commas.",
        "numpy, pandas, torch, LightGBM, XGBoost, numba, matplotlib, seaborn, as far as installed",
    ),
}
OF_OTHERS = {
    "MLFLOW_TRACKING_URI": "When it is set and MLflow is installed, each finished trial becomes a run there.",
    "CI": "When it is set, no progress bars are shown.",
    "OMP_NUM_THREADS": "Limits threads where `RANKPLUG_THREADS` is not set; sweeps set it for their worker processes.",
    "OMP_WAIT_POLICY": "When it is set, rankplug leaves the next three alone.",
    "GOMP_SPINCOUNT": f"Set to {WAITING['GOMP_SPINCOUNT']} by importing rankplug, unless it is set, for GNU OpenMP.",
    "KMP_BLOCKTIME": f"Likewise to {WAITING['KMP_BLOCKTIME']} (milliseconds), for LLVM's and Intel's OpenMP.",
    "OPENBLAS_THREAD_TIMEOUT": f"Likewise to {WAITING['OPENBLAS_THREAD_TIMEOUT']} (power of 2, ticks), for OpenBLAS.",
}
HEAD = """# Environment variables

Made by `make docs` from `docs/rankplug_documentation/reference_pages/environment.py`.
`rankplug doctor` tells what is in force.

"""


def environment_page() -> str:
    """Return the text of the page."""
    own = table(
        ["variable", "what it sets", "when it is not set"],
        ((f"`{name}`", meaning, default) for name, (meaning, default) in VARIABLES.items()),
    )
    others = table(["variable", "what rankplug does with it"], ((f"`{name}`", use) for name, use in OF_OTHERS.items()))
    return HEAD + "\n".join([*own, "## Of other programs", "", *others])
