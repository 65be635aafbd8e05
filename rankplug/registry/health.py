"""Usability of plugins, found out by importing their code."""

from __future__ import annotations

import importlib.util

from rankplug.errors import BrokenPluginError, FitError, RankplugError, UnknownPluginError
from rankplug.registry.kinds import BackendSpecification, ScorerSpecification
from rankplug.registry.loading import OWN, TimeUp, limited_time, printing_elsewhere
from rankplug.registry.plugins import SESSION, Registry
from rankplug.registry.specifications import Plugin, import_object


def load_code(plugin: Plugin, plugins: Registry) -> None:
    """Import the code behind a plugin; of a scorer, the code for each backend whose packages are installed.

    Raises:
        BrokenPluginError: what is wrong, in one sentence.
    """
    specification = plugin.specification
    try:
        if isinstance(specification, ScorerSpecification):
            for backend, path in specification.fitted_by.items():
                if is_usable(backend, plugins):
                    import_object(path, str(specification))
        else:
            specification.load()
    except RankplugError:
        raise
    except (KeyboardInterrupt, TimeUp):
        raise
    except BaseException as error:
        raise BrokenPluginError(f"{specification} cannot be used: {type(error).__name__}: {error}") from error


def require_packages(engine: BackendSpecification) -> None:
    """Raise an error if a package that a backend needs is not installed."""
    for package in engine.requires:
        if importlib.util.find_spec(package) is None:
            raise FitError(
                f"{engine} needs the package {package}; install it with: pip install 'rankplug[{engine.name}]'"
            )


def is_usable(backend: str, plugins: Registry) -> bool:
    """Tell whether a backend and the packages it needs are installed."""
    try:
        engine = plugins.specification("backend", backend)
    except UnknownPluginError:
        return False
    return all(importlib.util.find_spec(package) is not None for package in engine.requires)


def problems_of_others(plugins: Registry) -> dict[str, str]:
    """Return the plugins of other distributions, with what is wrong with each, or an empty string."""
    problems: dict[str, str] = {}
    for plugin in plugins.plugins():
        if plugin.distribution in (OWN, SESSION):
            continue
        name = f"{plugin.specification} of {plugin.distribution} {plugin.version}"
        try:
            with limited_time(name), printing_elsewhere(name):
                load_code(plugin, plugins)
            problems[name] = ""
        except RankplugError as error:
            problems[name] = str(error)
    return problems
