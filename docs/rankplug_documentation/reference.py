"""Reference pages: plugins, Python names, commands, hooks and environment variables, generated from the code."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence

import rankplug
from rankplug import hookspecs
from rankplug.registry import (
    KINDS,
    Parameters,
    Plugin,
    ScorerSpecification,
    describe_parameters,
    registry,
)
from rankplug.store import markdown_table


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a Markdown table and an empty line; nothing without rows."""
    cells = list(rows)
    return [*markdown_table(head, cells).splitlines(), ""] if cells else []


def parameter_table(model: type[Parameters]) -> list[str]:
    """Return the lines of a table of name, type, default and meaning of each parameter."""

    def default(value: object) -> str:
        return f"`{str(value).lower() if isinstance(value, bool) or value is None else value}`"

    rows = (
        (
            f"`{parameter['name']}`",
            parameter["type"],
            "required" if parameter["required"] else default(parameter["default"]),
            parameter["description"],
        )
        for parameter in describe_parameters(model)
    )
    return table(["parameter", "type", "default", ""], rows)


def built_in(kind: str) -> list[Plugin]:
    """Return the plugins of a kind that come with rankplug itself."""
    return [plugin for plugin in registry().plugins(kind) if plugin.distribution == "rankplug"]


PLUGINS_HEAD = """# Plugins and their parameters

What `rankplug plugins` lists, kind by kind. A parameter goes in square brackets after the name,
`synthetic[queries=200]`; a list of values makes a grid, `lambdarank[sigma=[1,2]]`. [Losses](../losses.md) have a page
of their own with formulas and pictures.

"""
PLURAL = {
    "loss": "Losses",
    "sampler": "Samplers",
    "scorer": "Scorers",
    "backend": "Backends",
    "dataset": "Data sets",
    "transform": "Transforms",
    "debiasing": "Debiasing of clicks",
    "metric": "Metrics",
    "study": "Studies",
}


def plugins_page() -> str:
    """Return the page of every plugin that comes with rankplug."""
    lines: list[str] = []
    for kind in KINDS:
        lines += [f"## {PLURAL[kind]}", ""]
        if kind == "loss":
            names = [(plugin.specification.name, plugin.specification.summary) for plugin in built_in(kind)]
            lines += table(["loss", ""], ((f"[`{name}`](../losses.md#{name})", summary) for name, summary in names))
            continue
        for plugin in built_in(kind):
            specification = plugin.specification
            summary = specification.summary[:1].upper() + specification.summary[1:]
            lines += [f"### {specification.name} {{ #{kind}-{specification.name} }}", "", f"{summary}.", ""]
            if isinstance(specification, ScorerSpecification):
                lines += [f"Fitted by {', '.join(f'`{name}`' for name in sorted(specification.fitted_by))}.", ""]
            lines += parameter_table(specification.parameters)
    return PLUGINS_HEAD + "\n".join(lines)


HOOKS_HEAD = """# Hooks

A plugin is a module with functions of these names, marked `@rankplug.hookimpl`, that an entry point in the group
`rankplug` names. It imports nothing heavy: implementations are named as `"package.module:object"` and imported at
first use. Every hook is optional.

```python
import rankplug as rp


@rp.hookimpl
def rankplug_losses():
    return [rp.LossSpecification(name="my_loss", summary="one line", implementation="my_package.my_loss:my_loss")]
```

"""


def hooks_page() -> str:
    """Return the page of every hook."""
    lines = []
    for name, hook in vars(hookspecs).items():
        if name.startswith("rankplug_"):
            signature = f"def {name}{inspect.signature(hook)}".replace("'", "").replace("kinds.", "")
            lines += [f"## {name}", "", "```text", signature, "```", "", inspect.cleandoc(hook.__doc__ or ""), ""]
    return HOOKS_HEAD + "\n".join(lines)


VARIABLES = {
    "RANKPLUG_CACHE": ("Folder of prepared data and compiled code, which can be deleted.", "the user's cache folder"),
    "RANKPLUG_DATA": ("Folders of archives or unpacked data sets, separated as in `PATH`.", "none"),
    "RANKPLUG_MIRRORS": (
        "Addresses tried after the catalogue's own, separated by spaces; digests are checked.",
        "none",
    ),
    "RANKPLUG_RESULTS": ("Folder of the results of sweeps.", "`results` in the project's root"),
    "RANKPLUG_THREADS": ("Largest number of threads of each engine.", "`OMP_NUM_THREADS`, or all cores"),
    "RANKPLUG_WITHOUT": ("Distributions whose plugins are not loaded, separated by commas.", "all are loaded"),
    "MLFLOW_TRACKING_URI": ("If set and MLflow is installed, each finished trial becomes a run there.", "no runs"),
    "CI": ("If set, no progress bars are shown.", "bars in a terminal"),
}


def environment_page() -> str:
    """Return the page of environment variables."""
    rows = ((f"`{name}`", meaning, default) for name, (meaning, default) in VARIABLES.items())
    head = "# Environment variables\n\n`rankplug doctor` shows what is in force.\n\n"
    return head + "\n".join(table(["variable", "meaning", "without it"], rows))


def commands_page() -> str:
    """Return the page of every command."""
    import typer
    from typer.cli import get_docs_for_click

    from rankplug.cli import app

    command = typer.main.get_command(app)
    text = get_docs_for_click(obj=command, ctx=typer.Context(command), name="rankplug", title="Commands")
    return text.replace("**Usage**:", "Usage:")


GROUPS = {
    "Data": ("load", "Lists", "Split"),
    "Training": ("fit", "Ranker", "Model", "load_model", "use_threads"),
    "Losses, samplers and metrics": (
        "loss",
        "Loss",
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
    ),
    "Sweeps and results": ("sweep", "tune", "results", "compare", "Store", "Combination", "study"),
}
MODULES = {
    "Statistics": "rankplug.statistics",
    "Contract tests": "rankplug.testing",
    "Exceptions": "rankplug.errors",
}
PYTHON_HEAD = """# Python

Everything here but the modules at the end is an attribute of `rankplug`: `import rankplug as rp`, then `rp.load`.
Names are imported at first use, so `import rankplug` takes milliseconds.

"""


def python_page() -> str:
    """Return the page of every public name; mkdocstrings fills in the docstrings."""
    paths = {name: path.replace(":", ".") for name, path in registry().exports().items()}
    for name in rankplug.__all__:
        value = getattr(rankplug, name)
        is_defined = inspect.isclass(value) or inspect.isfunction(value)
        paths[name] = f"{value.__module__ if is_defined else 'rankplug'}.{name}"
    grouped = {title: [name for name in names if name in paths] for title, names in GROUPS.items()}
    named = {name for names in grouped.values() for name in names}
    grouped["For authors of plugins"] = sorted(set(paths) - named)
    lines = []
    for title, names in grouped.items():
        lines += [f"## {title}", "", *(line for name in names for line in (f"::: {paths[name]}", ""))]
    shown = "|".join(sorted(paths))
    for title, module in MODULES.items():
        lines += [f"## {title}", "", f"::: {module}", "    options:", f'      filters: ["!^_[^_]", "!^({shown})$"]', ""]
    return PYTHON_HEAD + "\n".join(lines)


def reference_pages() -> dict[str, str]:
    """Return all pages by path inside ``docs``."""
    return {
        "reference/plugins.md": plugins_page(),
        "reference/python.md": python_page(),
        "reference/commands.md": commands_page(),
        "reference/hooks.md": hooks_page(),
        "reference/environment.md": environment_page(),
    }
