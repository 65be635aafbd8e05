"""Check of a plugin by the contract of its kind, with findings reported as a linter does."""

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
    BackendContract,
    DatasetContract,
    Finding,
    LossContract,
    MetricContract,
    SamplerContract,
    ScorerContract,
    StudyContract,
    TransformContract,
)

CONTRACTS = {
    tests.kind: tests.contract
    for tests in (
        LossContract,
        SamplerContract,
        ScorerContract,
        BackendContract,
        DatasetContract,
        TransformContract,
        StudyContract,
        MetricContract,
    )
}
LOADED = "it_can_be_loaded"


@dataclass(frozen=True)
class Report:
    """Findings of a plugin's contract.

    Args:
        plugin: plugin that was checked.
        reference: name of the plugin with the parameters it was checked with.
        findings: one finding a check.
        file: path of the file it comes from, where it is not installed.
    """

    plugin: Plugin
    reference: str
    findings: tuple[Finding, ...]
    file: str = ""

    @property
    def failed(self) -> bool:
        """Whether any check failed."""
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
                details = {"what": finding.what, "on": finding.given, "means": finding.means, "fix": finding.fix}
                yield from (f"        {name:6} {text}" for name, text in details.items() if text is not None)
                if finding.snippet:
                    yield "        see it again with"
                    yield from (f"            {line}" for line in finding.snippet.splitlines())
        states = [finding.status for finding in self.findings]
        counts = {word: states.count(word) for word in ("ok", "failed", "not applicable", "not tried")}
        after = ": they rest on what fails" if counts["not tried"] else ""
        yield "  " + ", ".join(f"{count} {word}" for word, count in counts.items() if count) + after


def check_plugins(word: str, kind: str | None = None) -> list[Report]:
    """Check the plugins that a word names: an installed one, or those of a file.

    Args:
        word: name with parameters, or path of a file.
        kind: only plugins of this kind.
    """
    contracts = ", ".join(CONTRACTS)
    if kind is not None and kind not in CONTRACTS:
        raise UnknownPluginError(f"there is no contract for a {kind}; there are some for {contracts}")
    file = word if word.endswith(".py") or os.sep in word else ""
    # What plugins print goes to the standard error stream, so that it does not mix with the report.
    with contextlib.redirect_stdout(sys.stderr):
        if file:
            plugins = [(str(parse(Reference(plugin.specification.name))), plugin) for plugin in plugins_of_file(file)]
        else:
            plugins = [(str(parse(word)), plugin) for plugin in _installed(word)]
        reports = [
            _report(reference, plugin, file)
            for reference, plugin in plugins
            if plugin.specification.kind in ([kind] if kind else CONTRACTS)
        ]
    if not reports:
        kinds = ", ".join(sorted({plugin.specification.kind for _, plugin in plugins}))
        raise UnknownPluginError(
            f"{word} is no {kind}, but a {kinds}"
            if kind
            else f"{word} is a {kinds}, for which there is no contract; there are some for {contracts}"
        )
    return reports


def _installed(word: str) -> list[Plugin]:
    name = parse(word).name
    kinds = {plugin.specification.kind for plugin in registry().plugins() if plugin.specification.name == name}
    for broken in registry().broken if not kinds else ():
        dashed = name.replace("_", "-")
        if name == broken.entry_point or dashed in (broken.distribution, broken.distribution.removeprefix("rankplug-")):
            raise BrokenPluginError(
                f"{broken.distribution} is installed, but its plugin {broken.entry_point} cannot be used:"
                f" {broken.reason}; rankplug plugins lists it"
            )
    if not kinds and Path(word).is_dir():
        raise UnknownPluginError(f"no plugin is called {word}, but a folder is: install it with pip install -e {word}")
    return [registry().find(kind, word) for kind in sorted(kinds or {"loss"})]


def _report(reference: str, plugin: Plugin, file: str) -> Report:
    findings = [_loaded(reference, plugin)]
    if not findings[0].failed:
        contract = CONTRACTS[plugin.specification.kind]
        findings += contract.findings(contract.case(reference))
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
        means = "it is listed, and fails when it is used"
        return Finding(reference, LOADED, "failed", str(error), None, means, _remedy(error))
    return Finding(reference, LOADED, "ok")


def _remedy(error: BaseException) -> str:
    """Return what to do about code that cannot be loaded, by the error behind it."""
    match error.__cause__ or error.__context__ or error:
        case SyntaxError() as cause:
            return f"correct line {cause.lineno} of {cause.filename}"
        case ModuleNotFoundError():
            return "install the module, and name its package among your dependencies"
        case ImportError() | AttributeError():
            return "name the implementation as package.module:object, and check that the module has this object"
    return "correct what the message names"


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
    sys.modules.pop(name, None)  # what was changed since the last time is read again
    before = _of_session()
    with warnings.catch_warnings():
        # The loss is in a file, so it is not lost with the session.
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
