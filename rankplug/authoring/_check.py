"""Check of a plugin by the contract of its kind, with findings told as a linter does."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import Any

from rankplug.errors import BrokenPluginError, RankplugError, UnknownPluginError
from rankplug.losses import SessionPluginWarning
from rankplug.registry import GROUP, SESSION, Plugin, Reference, Registry, load_code, parse, registry
from rankplug.testing import (
    Contract,
    Finding,
    dataset_checks,
    fitting_checks,
    loss_checks,
    metric_checks,
    sampler_checks,
    study_checks,
    transform_checks,
)

CONTRACTS: dict[str, Contract] = {
    "loss": loss_checks.CONTRACT,
    "sampler": sampler_checks.CONTRACT,
    "scorer": fitting_checks.CONTRACT,
    "backend": fitting_checks.CONTRACT,
    "dataset": dataset_checks.CONTRACT,
    "transform": transform_checks.CONTRACT,
    "study": study_checks.CONTRACT,
    "metric": metric_checks.CONTRACT,
}
LOADED = "it_can_be_loaded"


@dataclass(frozen=True)
class Report:
    """Findings of a plugin's contract.

    Args:
        plugin: what was checked.
        reference: its name with the parameters it was checked with.
        findings: one a check.
        file: it comes from, where it is not installed.
    """

    plugin: Plugin
    reference: str
    findings: tuple[Finding, ...]
    file: str = ""

    @property
    def failed(self) -> bool:
        """Tell whether any check failed."""
        return any(finding.failed for finding in self.findings)

    def describe(self) -> dict[str, Any]:
        """Return the report as plain values."""
        return {
            "kind": self.plugin.specification.kind,
            "plugin": self.reference,
            "distribution": self.plugin.distribution,
            "version": self.plugin.version,
            "file": self.file,
            "failed": self.failed,
            "findings": [finding.describe() for finding in self.findings],
        }

    def lines(self) -> Iterator[str]:
        """Yield the report as lines of text."""
        origin = self.file or f"{self.plugin.distribution} {self.plugin.version}".strip()
        yield f"{self.plugin.specification.kind} {self.reference}, {origin}"
        for finding in self.findings:
            if finding.status == "ok":
                yield f"  ok    {finding.check}"
            elif finding.status == "not applicable":
                yield f"  --    {finding.check}: {finding.what}"
            elif finding.failed:
                yield f"  FAIL  {finding.check}"
                yield from _details(finding)
        states = [finding.status for finding in self.findings]
        counts = {word: states.count(word) for word in ("ok", "failed", "not applicable", "not tried")}
        after = ": they rest on what fails" if counts["not tried"] else ""
        yield "  " + ", ".join(f"{count} {word}" for word, count in counts.items() if count) + after


def check_plugins(word: str, kind: str | None = None) -> list[Report]:
    """Check the plugins that a word names: an installed one, or those of a file.

    Args:
        word: a name with parameters, or the path of a file.
        kind: only plugins of this kind.
    """
    if kind is not None and kind not in CONTRACTS:
        raise UnknownPluginError(f"there is no contract for a {kind}; there are some for {', '.join(CONTRACTS)}")
    if word.endswith(".py") or os.sep in word:
        with _printing_elsewhere():
            plugins = [(str(parse(Reference(plugin.specification.name))), plugin) for plugin in plugins_of_file(word)]
        file = word
    else:
        plugins, file = [(str(parse(word)), plugin) for plugin in _installed(word)], ""
    able = [named for named in plugins if named[1].specification.kind in ([kind] if kind else CONTRACTS)]
    if not able:
        kinds = ", ".join(sorted({plugin.specification.kind for _, plugin in plugins}))
        raise UnknownPluginError(
            f"{word} is a {kinds}, for which there is no contract; there are some for {', '.join(CONTRACTS)}"
            if kind is None
            else f"{word} is no {kind}, but a {kinds}"
        )
    return [_report(reference, plugin, file) for reference, plugin in able]


def _installed(word: str) -> list[Plugin]:
    kinds = {plugin.specification.kind for plugin in registry().plugins() if plugin.specification.name == _name(word)}
    for broken in registry().broken if not kinds else ():
        if _name(word) in (broken.entry_point, broken.distribution) or _name(word).replace("_", "-") in (
            broken.distribution,
            broken.distribution.removeprefix("rankplug-"),
        ):
            raise BrokenPluginError(
                f"{broken.distribution} is installed, but its plugin {broken.entry_point} cannot be used:"
                f" {broken.reason}; rankplug plugins lists it"
            )
    if not kinds and Path(word).is_dir():
        raise UnknownPluginError(f"no plugin is called {word}, but a folder is: install it with pip install -e {word}")
    return [registry().find(kind, word) for kind in sorted(kinds or {"loss"})]


def _name(word: str) -> str:
    return parse(word).name


def _report(reference: str, plugin: Plugin, file: str) -> Report:
    contract = CONTRACTS[plugin.specification.kind]
    with _printing_elsewhere():
        findings = [_loaded(reference, plugin)]
        if not findings[0].failed:
            case = contract.case(reference)
            findings += contract.findings(case)
    if file:
        first = f"from rankplug.authoring import plugins_of_file\nplugins_of_file({file!r})\n"
        findings = [
            replace(finding, snippet=first + finding.snippet) if finding.snippet else finding for finding in findings
        ]
    return Report(plugin, reference, tuple(findings), file)


def _loaded(reference: str, plugin: Plugin) -> Finding:
    try:
        registry().resolve(plugin.specification.kind, reference)
        load_code(plugin, registry())
    except RankplugError as error:
        what = str(error)
        means = "it is listed, and fails when it is used"
        return Finding(reference, LOADED, "failed", what, None, means, _fix_of(error))
    return Finding(reference, LOADED, "ok")


def _fix_of(error: BaseException) -> str:
    """Return what to do about code that cannot be loaded, by the error behind it."""
    cause = error.__cause__ or error.__context__ or error
    if isinstance(cause, SyntaxError):
        return f"correct line {cause.lineno} of {cause.filename}"
    if isinstance(cause, ModuleNotFoundError):
        return "install the module, and name its package among your dependencies"
    if isinstance(cause, (ImportError, AttributeError)):
        return "name the implementation as package.module:object, and check that the module has this object"
    return "correct what the message names"


def _details(finding: Finding) -> Iterator[str]:
    yield f"        what   {finding.what}"
    if finding.given is not None:
        yield f"        on     {finding.given}"
    yield f"        means  {finding.means}"
    yield f"        fix    {finding.fix}"
    if finding.snippet:
        yield "        see it again with"
        yield from (f"            {line}" for line in finding.snippet.splitlines())


@contextlib.contextmanager
def _printing_elsewhere() -> Iterator[None]:
    """Redirect what plugins print to the standard error stream, so that it does not mix with the report."""
    with contextlib.redirect_stdout(sys.stderr):
        yield


def plugins_of_file(path: str | Path) -> list[Plugin]:
    """Load the plugins of a file into this process, in place of installed ones of the same names.

    A file offers plugins by hooks, as a package's plugin module does, or by functions marked ``@rankplug.loss``.
    """
    file = Path(path).resolve()
    if not file.is_file():
        raise BrokenPluginError(f"there is no file {path}")
    root, name = _module_of(file)
    loaded = sys.modules.get(name)
    if name in sys.stdlib_module_names or (loaded and Path(loaded.__file__ or "").resolve() != file):
        raise BrokenPluginError(f"{path} has the name of another module, {name}; rename it")
    if sys.path[:1] != [str(root)]:
        sys.path.insert(0, str(root))
    importlib.invalidate_caches()
    # What was changed since it was read the last time is read again.
    sys.modules.pop(name, None)
    before = _of_session()
    with warnings.catch_warnings():
        # That a loss of a session is lost with it is no news to those who wrote it into a file.
        warnings.simplefilter("ignore", SessionPluginWarning)
        plugins = Registry([metadata.EntryPoint(name=file.stem, value=name, group=GROUP)])
    if plugins.broken:
        raise BrokenPluginError(f"{path} cannot be used: {plugins.broken[0].reason}")
    for plugin in plugins.plugins():
        registry().add(plugin.specification, version=plugin.version, instead=True)
    offered = [plugin for plugin in _of_session() if not any(plugin is other for other in before)]
    if not offered:
        raise BrokenPluginError(
            f"{path} offers no plugin: it has neither a hook, such as rankplug_losses marked @rankplug.hookimpl, nor a"
            " function marked @rankplug.loss"
        )
    return offered


def _module_of(file: Path) -> tuple[Path, str]:
    """Return the folder from which a file can be imported as a module, and the module's name."""
    root, parts = file.parent, [file.stem]
    while (root / "__init__.py").is_file():
        root, parts = root.parent, [root.name, *parts]
    return root, ".".join(parts)


def _of_session() -> list[Plugin]:
    return [plugin for plugin in registry().plugins() if plugin.distribution == SESSION]
