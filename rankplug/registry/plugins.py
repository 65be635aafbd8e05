"""The registry: plugins of installed distributions and of this session, by kind and name.

Each entry point is loaded on its own. One that cannot be imported, breaks a hook or repeats a name is listed in
``Registry.broken`` and stops no other. ``RANKPLUG_WITHOUT`` names distributions that are not loaded.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import json
import os
import sys
import traceback
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata
from typing import Any, TypeVar

import pluggy

from rankplug import hookspecs
from rankplug.errors import (
    BrokenPluginError,
    FitError,
    PluginConflictError,
    RankplugError,
    UnknownPluginError,
    did_you_mean,
)
from rankplug.registry.grammar import Grid, Reference, parse
from rankplug.registry.parameters import Parameters, read_parameters
from rankplug.registry.sources import source_digest
from rankplug.registry.specifications import (
    HOOK_OF_KIND,
    KINDS,
    OWN,
    BackendSpecification,
    DatasetSpecification,
    ScorerSpecification,
    Specification,
    import_object,
    same_distribution,
)

GROUP = OWN
SESSION = "this session"
Specified = TypeVar("Specified", bound=Specification)
Named = str | Mapping[str, Any] | Reference
"""A plugin's name with its parameters."""


@dataclass(frozen=True)
class Plugin:
    """A specification with the distribution that offers it."""

    specification: Specification
    distribution: str
    version: str
    source: str = ""
    """Source of a plugin that was written in this session."""

    def describe(self) -> dict[str, Any]:
        return {**self.specification.describe(), "distribution": self.distribution, "version": self.version}


@dataclass(frozen=True)
class BrokenPlugin:
    """A plugin, or one of its hooks, that could not be used, and why."""

    entry_point: str
    distribution: str
    version: str
    reason: str
    traceback: str = ""

    def describe(self) -> dict[str, str]:
        return dict(vars(self))


class Registry:
    """All plugins of this process."""

    def __init__(self, entry_points: Iterable[metadata.EntryPoint] | None = None) -> None:
        self.manager = pluggy.PluginManager(GROUP)
        self.manager.add_hookspecs(hookspecs)
        self.broken: list[BrokenPlugin] = []
        self.remarks: list[str] = []
        self._plugins: dict[str, dict[str, list[Plugin]]] = {kind: {} for kind in KINDS}
        points = metadata.entry_points(group=GROUP) if entry_points is None else entry_points
        for entry_point in sorted(points, key=lambda point: (_origin(point)[1], point.name)):
            self._load(entry_point)

    def _load(self, entry_point: metadata.EntryPoint) -> None:
        """Import a plugin and collect what it offers."""
        origin = _origin(entry_point)
        name = f"{origin[1]}:{entry_point.name}"
        left_out = os.environ.get("RANKPLUG_WITHOUT", "").split(",")
        if any(same_distribution(origin[1], word.strip()) for word in left_out):
            self.remarks.append(f"plugin {entry_point.name} of {origin[1]} is left out, as RANKPLUG_WITHOUT says")
            return
        # The standard output may be JSON.
        with contextlib.redirect_stdout(sys.stderr) if origin[1] != OWN else contextlib.nullcontext():
            with self._reporting(origin):
                module = entry_point.load()
                self._refuse_unknown_hooks(module)
                self.manager.register(module, name=name)
                for kind, hook in HOOK_OF_KIND.items():
                    for implementation in getattr(self.manager.hook, hook).get_hookimpls():
                        if implementation.plugin is module:
                            with self._reporting(origin):
                                self._collect(kind, implementation.function, origin)
                return
            if (plugin := self.manager.get_plugin(name)) is not None:
                self.manager.unregister(plugin)

    @contextlib.contextmanager
    def _reporting(self, origin: tuple[str, str, str]) -> Iterator[None]:
        """List an error in the block as a broken plugin."""
        try:
            yield
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            # SystemExit, and the errors of extensions written in Rust, are no Exception.
            reason = str(error) if isinstance(error, BrokenPluginError) else f"{type(error).__name__}: {error}"
            self.broken.append(BrokenPlugin(*origin, reason, traceback.format_exc()))

    def _refuse_unknown_hooks(self, module: Any) -> None:
        for name in dir(module):
            if hasattr(hookspecs, name) or self.manager.parse_hookimpl_opts(module, name) is None:
                continue
            known = [hook for hook in vars(hookspecs) if hook.startswith("rankplug_")]
            raise TypeError(f"there is no hook {name}: {did_you_mean(name, known)}")

    def _collect(self, kind: str, hook: Any, origin: tuple[str, str, str]) -> None:
        """Add what a hook offers."""
        name, expected, (_, distribution, version) = HOOK_OF_KIND[kind], KINDS[kind].__name__, origin
        offered = hook()
        if isinstance(offered, (str, Mapping)) or not isinstance(offered, Iterable):
            raise TypeError(f"{name} must return a list of {expected}, not {type(offered).__name__}")
        for specification in offered:
            if not isinstance(specification, KINDS[kind]):
                raise TypeError(f"{name} must return {expected}, not {type(specification).__name__}: {specification!r}")
            plugin = Plugin(specification, distribution, version)
            if distribution != OWN:
                # An error in a description would otherwise break every later listing.
                json.dumps(plugin.describe(), default=str)
            namesakes = self._plugins[kind].setdefault(specification.name, [])
            if any(other.distribution == distribution for other in namesakes):
                self.broken.append(BrokenPlugin(*origin, f"{specification} is offered twice by {distribution}"))
                continue
            namesakes.append(plugin)
            # From now on an edit of its code is noticed.
            source_digest(specification, distribution)

    def add(self, specification: Specification, *, version: str = "", source: str = "", instead: bool = False) -> None:
        """Offer a plugin in this process only; it takes the place of an earlier one of the session.

        Args:
            specification: the plugin.
            version: word for its state, by which results are named.
            source: its source code, for the record.
            instead: whether it also takes the place of installed plugins of its name.
        """
        namesakes = self._plugins[specification.kind].setdefault(specification.name, [])
        namesakes[:] = [other for other in namesakes if other.distribution != SESSION and not instead]
        namesakes.append(Plugin(specification, SESSION, version, source))

    def written_here(self, kind: str, reference: Named) -> bool:
        """Return whether only this session knows a plugin's source."""
        return any(plugin.source for plugin in self._plugins[kind].get(parse(reference).name, ()))

    def plugins(self, kind: str | None = None) -> Iterator[Plugin]:
        """Yield all plugins, or those of one kind, by kind and name."""
        for selected in [kind] if kind else KINDS:
            if selected not in KINDS:
                raise UnknownPluginError(f"there is no kind of plugin {selected}: {did_you_mean(selected, KINDS)}")
            for name in sorted(self._plugins[selected]):
                yield from self._plugins[selected][name]

    def specifications(self, kind: type[Specified]) -> Iterator[Specified]:
        """Yield the specifications of all plugins of one kind, by name."""
        for plugin in self.plugins(kind.kind):
            if isinstance(plugin.specification, kind):
                yield plugin.specification

    def conflicts(self) -> list[tuple[str, str, list[str]]]:
        """Return the kind, name and distributions of each name that more than one distribution offers."""
        return [
            (kind, name, [plugin.distribution for plugin in namesakes])
            for kind, named in self._plugins.items()
            for name, namesakes in named.items()
            if len(namesakes) > 1
        ]

    def find(self, kind: str, reference: Named) -> Plugin:
        """Return the plugin that a reference names."""
        named = self.named(kind, parse(reference))
        namesakes = self._plugins[kind].get(named.name, [])
        if named.distribution is not None:
            matching = [plugin for plugin in namesakes if same_distribution(plugin.distribution, named.distribution)]
            if namesakes and not matching:
                offers = ", ".join(plugin.distribution for plugin in namesakes)
                raise UnknownPluginError(f"{kind} {named.name} is not offered by {named.distribution}, but by {offers}")
            namesakes = matching
        if not namesakes:
            hint = did_you_mean(named.name, self._plugins[kind])
            failed = f" ({len(self.broken)} plugins failed to load, see rankplug plugins)" if self.broken else ""
            raise UnknownPluginError(f"there is no {kind} called {named.name}: {hint}{failed}")
        if len(namesakes) > 1:
            offers = " and ".join(plugin.distribution for plugin in namesakes)
            first = namesakes[0].distribution
            raise PluginConflictError(
                f"{kind} {named.name} is offered by {offers}; say which, as in {first}:{named.name}, or uninstall one"
            )
        return namesakes[0]

    def named(self, kind: str, named: Reference) -> Reference:
        """Return the data set that reads a file, where a reference is the file's path; others as they are."""
        if kind != "dataset" or named.name in self._plugins[kind]:
            return named
        for specification in self.specifications(DatasetSpecification):
            if named.name.lower().endswith(specification.endings or "\0"):
                return Reference(specification.name, {"path": named.name, **named.parameters})
        return named

    def exports(self) -> dict[str, str]:
        """Return what plugins offer as attributes of ``rankplug``: name to ``"package.module:object"``."""
        paths: dict[str, str] = {}
        for specification in self.specifications(BackendSpecification):
            paths |= specification.exports
        for implementation in self.manager.hook.rankplug_functions.get_hookimpls():
            functions: Any = implementation.function()
            paths |= functions
        return paths

    def exported(self, name: str) -> Any:
        """Return the object that a plugin offers as an attribute of ``rankplug``, such as ``lightgbm_objective``."""
        paths = self.exports()
        if name not in paths:
            raise AttributeError(f"no plugin exports {name}")
        return import_object(paths[name], f"function {name}")

    def specification(self, kind: str, reference: Named) -> Any:
        """Return the specification that a reference names, of the class that ``KINDS`` has for the kind."""
        return self.find(kind, reference).specification

    def resolve(self, kind: str, reference: Named) -> tuple[Any, Parameters]:
        """Return the specification that a reference names, with validated parameters."""
        named = self.named(kind, parse(reference))
        specification = self.find(kind, named).specification
        return specification, read_parameters(specification.parameters, named.parameters, str(specification))


@functools.cache
def registry() -> Registry:
    """Return the installed plugins, which are searched for once per process."""
    return Registry()


def load_code(plugin: Plugin, plugins: Registry) -> None:
    """Import the code behind a plugin; of a scorer, the code for each backend whose packages are installed.

    Raises:
        BrokenPluginError: what is wrong, in one sentence.
    """
    specification = plugin.specification
    if isinstance(specification, ScorerSpecification):
        for backend, path in specification.fitted_by.items():
            if is_usable(backend, plugins):
                import_object(path, str(specification))
    else:
        specification.load()


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
        require_packages(plugins.specification("backend", backend))
    except (UnknownPluginError, FitError):
        return False
    return True


def third_party_problems(plugins: Registry) -> dict[str, str]:
    """Return the plugins of other distributions, with what is wrong with each, or an empty string."""
    problems: dict[str, str] = {}
    for plugin in plugins.plugins():
        if plugin.distribution in (OWN, SESSION):
            continue
        name = f"{plugin.specification} of {plugin.distribution} {plugin.version}"
        try:
            with contextlib.redirect_stdout(sys.stderr):
                load_code(plugin, plugins)
            problems[name] = ""
        except RankplugError as error:
            problems[name] = str(error)
    return problems


def _origin(entry_point: metadata.EntryPoint) -> tuple[str, str, str]:
    """Return entry point, distribution and version, as they are reported."""
    distribution = entry_point.dist
    return (
        entry_point.name,
        distribution.name if distribution else "unknown",
        distribution.version if distribution else "",
    )


def canonical(kind: str, reference: Named) -> str:
    """Return the text of a plugin in which parameters with their default values are left out, in a fixed order.

    Anything that does not name an installed plugin with valid parameters is returned as written.

    >>> canonical("metric", "ndcg[ties=stable,k=5]"), canonical("loss", "lambdarank[sigma=2.0]")
    ('ndcg@5', 'lambdarank[sigma=2]')
    """
    text = str(parse(reference))
    try:
        return _canonical(registry(), kind, text)
    except RankplugError:
        return text


@functools.lru_cache(maxsize=4096)
def _canonical(plugins: Registry, kind: str, text: str) -> str:
    specification, parameters = plugins.resolve(kind, text)
    plugin = plugins.find(kind, text)
    changed = {}
    for name, field in type(parameters).model_fields.items():
        value = getattr(parameters, name)
        if field.is_required() or value != field.get_default(call_default_factory=True):
            changed[name] = _plain(value)
    if any(isinstance(value, dict) for value in changed.values()):
        return text
    namesakes = [other for other in plugins.plugins(kind) if other.specification.name == specification.name]
    return str(Reference(specification.name, changed, plugin.distribution if len(namesakes) > 1 else None))


def _plain(value: Any) -> Any:
    """Return a parameter's value as people write it: 2 for 2.0, a tuple for a list."""
    if isinstance(value, (list, tuple)):
        return tuple(map(_plain, value))
    if isinstance(value, Reference | Grid):
        return value
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 else value
