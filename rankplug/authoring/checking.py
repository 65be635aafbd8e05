"""Check of a plugin by the contract of its kind, with findings told as a linter does."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rankplug.authoring.plugin_files import plugins_of_file
from rankplug.errors import RankplugError, UnknownPluginError
from rankplug.registry import Plugin, Reference, load_code, parse, registry
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
        first = f"from rankplug.authoring.plugin_files import plugins_of_file\nplugins_of_file({file!r})\n"
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
        fix = "name the implementation as package.module:object, and the packages it imports among your dependencies"
        return Finding(reference, LOADED, "failed", what, None, means, fix)
    return Finding(reference, LOADED, "ok")


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
