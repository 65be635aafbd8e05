"""The page of every public name of Python; the site's builder fills in the docstrings."""

from __future__ import annotations

import inspect

import rankplug
from rankplug.registry import BackendSpecification, registry

GROUPS = {
    "Data": ["load", "Lists", "Split"],
    "Training": ["fit", "Ranker", "Model", "load_model", "fit_on_cluster", "use_threads"],
    "Losses, samplers and metrics": [
        "loss",
        "Loss",
        "Objective",
        "Evaluation",
        "sampler",
        "Sampler",
        "metric",
        "Metric",
        "evaluate",
        "torch_loss",
        "TorchLoss",
        "lightgbm_objective",
        "xgboost_objective",
    ],
    "Sweeps and results": ["sweep", "results", "compare", "Store", "Combination", "study"],
    "For authors of plugins": [
        "hookimpl",
        "list_loss",
        "padded_loss",
        "list_sampler",
        "list_metric",
        "Parameters",
        "PaddedParameters",
        "MetricParameters",
        "RankingMetricParameters",
        "Reference",
        "RankplugError",
    ],
}
MODULES = {
    "Statistics": "rankplug.statistics",
    "Studies": "rankplug.studies.papers",
    "Runs of a study": "rankplug.studies.runs.Runs",
    "Verdicts on claims": "rankplug.studies.verdicts",
    "Contract tests": "rankplug.testing",
    "Exceptions": "rankplug.errors",
}
TABLES = {
    "Arguments of a loss of one list": "rankplug.compiled.lifting",
    "Arguments of a padded loss": "rankplug.losses.padded_losses",
    "Arguments of a metric of one list": "rankplug.metrics.list_metrics",
}
"""Modules whose first words are a table of the names that an author's function may ask for."""
HEAD = """# Python

Everything here but the modules at the end is an attribute of `rankplug`: `import rankplug as rp`, then `rp.load`. Names
are imported at first use, so `import rankplug` takes milliseconds.

"""


def public_names() -> set[str]:
    """Return every name that ``rankplug`` offers, those of the built-in backends included."""
    return set(rankplug.__all__) | set(exports())


def exports() -> dict[str, str]:
    """Return the paths of the functions that the built-in backends offer to their engines' own users."""
    backends = [plugin for plugin in registry().plugins("backend") if plugin.distribution == "rankplug"]
    specifications = [
        backend.specification for backend in backends if isinstance(backend.specification, BackendSpecification)
    ]
    return {
        name: path.replace(":", ".") for specification in specifications for name, path in specification.exports.items()
    }


def python_page() -> str:
    """Return the text of the page."""
    names = public_names()
    grouped = {title: [name for name in group if name in names] for title, group in GROUPS.items()}
    rest = names - {name for group in grouped.values() for name in group}
    grouped["For authors of plugins"] += sorted(rest)
    sections = [line for title, group in grouped.items() for line in _group(title, group)]
    modules = [line for title, module in MODULES.items() for line in _module(title, module, names)]
    tables = [
        line
        for title, module in TABLES.items()
        for line in (f"## {title}", "", f"::: {module}", "    options:", "      members: []", "")
    ]
    return HEAD + "\n".join(sections + tables + modules)


def _group(title: str, names: list[str]) -> list[str]:
    return [f"## {title}", "", *(line for name in names for line in (f"::: {home(name)}", ""))]


def _module(title: str, module: str, names: set[str]) -> list[str]:
    """Return the lines of a module, without the names that stand above: an address is that of one part."""
    told = sorted(name for name in names if home(name) == f"{module}.{name}")
    options = ["    options:", f'      filters: ["!^_[^_]", "!^({"|".join(told)})$"]'] if told else []
    return [f"## {title}", "", f"::: {module}", *options, ""]


def home(name: str) -> str:
    """Return the full path of a public name."""
    if name in exports():
        return exports()[name]
    value = getattr(rankplug, name)
    module = value.__module__ if inspect.isclass(value) or inspect.isfunction(value) else "rankplug"
    return f"{module}.{name}"
