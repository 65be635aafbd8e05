"""``rankplug check`` reports as a linter does: what fails, on which input, what it means, and how to see it again."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from rankplug.authoring._check import CONTRACTS, LOADED, check_plugins
from rankplug.authoring._scaffold import KINDS, NewPlugin
from rankplug.errors import BrokenPluginError
from rankplug.registry import registry

RANKPLUG = Path(sys.executable).parent / "rankplug"
WRONG = """
from rankplug import LossSpecification, hookimpl, list_loss

print("a plugin that talks")


@list_loss
def upside_down(scores, labels, gradient):
    value = 0.0
    for i in range(scores.size):
        for j in range(scores.size):
            if labels[i] > labels[j] and scores[i] - scores[j] < 1.0:
                value += 1.0 - scores[i] + scores[j]
                gradient[i] += 1.0
                gradient[j] -= 1.0
    return value


@hookimpl
def rankplug_losses():
    return [LossSpecification(name="upside_down", summary="a hinge", implementation="{module}:upside_down")]
"""


@pytest.fixture(autouse=True)
def path_of_imports(monkeypatch):
    """Give each test a path of imports of its own, to which a plugin's file that is checked adds its folder."""
    monkeypatch.setattr(sys, "path", list(sys.path))


@pytest.fixture(scope="module")
def wrong(tmp_path_factory) -> Path:
    """Write a file with a loss whose gradient has the wrong sign."""
    path = tmp_path_factory.mktemp("wrong") / "upside_down_plugin.py"
    path.write_text(WRONG.replace("{module}", path.stem))
    return path


def test_a_failure_is_shown_with_its_smallest_input_its_meaning_and_a_remedy(wrong):
    (report,) = check_plugins(str(wrong))
    failed = {finding.check: finding for finding in report.findings if finding.failed}
    assert list(failed) == ["gradient_is_the_derivative_of_the_value"]
    finding = failed["gradient_is_the_derivative_of_the_value"]
    assert finding.given.scores.size == 2 and sorted(finding.given.labels) == [0.0, 1.0]
    assert finding.what.startswith("the gradient is [")
    assert (finding.means, bool(finding.fix)) == ("training follows a wrong direction", True)


@pytest.mark.slow
def test_the_snippet_shows_the_failure_again_in_a_fresh_process(wrong):
    (report,) = check_plugins(str(wrong))
    (finding, *_) = [finding for finding in report.findings if finding.failed]
    done = subprocess.run([sys.executable, "-c", finding.snippet], capture_output=True, text=True)
    assert "Evaluation(value=array([" in done.stdout
    assert done.stderr.splitlines()[-1].startswith(
        "rankplug.testing._checks.ContractError: upside_down: the gradient is"
    )
    assert finding.what in done.stderr


def test_the_command_fails_where_the_contract_is_broken_and_its_json_is_json(wrong):
    done = subprocess.run([RANKPLUG, "check", str(wrong), "--json"], capture_output=True, text=True)
    assert done.returncode == 1
    (report,) = json.loads(done.stdout)
    assert (report["plugin"], report["kind"], report["failed"], report["file"]) == (
        "upside_down",
        "loss",
        True,
        str(wrong),
    )
    statuses = {finding["check"]: finding["status"] for finding in report["findings"]}
    assert statuses[LOADED] == "ok" and statuses["gradient_is_the_derivative_of_the_value"] == "failed"
    assert "a plugin that talks" in done.stderr


def test_code_that_raises_is_told_with_the_line(tmp_path):
    path = tmp_path / "raises_plugin.py"
    path.write_text(
        "from rankplug import LossSpecification, PaddedParameters, hookimpl, padded_loss\n"
        "@padded_loss\ndef raises(scores, labels, mask):\n    return scores.no_such_thing()\n"
        "@hookimpl\ndef rankplug_losses():\n    return [LossSpecification(name='raises', summary='x',"
        " implementation='raises_plugin:raises', parameters=PaddedParameters)]\n"
    )
    (report,) = check_plugins(str(path))
    (finding,) = [finding for finding in report.findings if finding.failed]
    assert finding.what.endswith(f"has no attribute 'no_such_thing' at {path}, line 4")
    after = report.findings[report.findings.index(finding) + 1 :]
    assert after and {finding.status for finding in after} == {"not tried"}
    registry.cache_clear()


FAST = ("loss", "sampler", "dataset", "transform")


@pytest.mark.parametrize(
    ("kind", "flavour"),
    [
        *((kind, "numba") for kind in FAST),
        *(pytest.param(kind, "numba", marks=pytest.mark.slow) for kind in KINDS if kind not in FAST),
        pytest.param("loss", "torch", marks=pytest.mark.slow),
    ],
)
def test_a_new_plugin_keeps_its_contract(tmp_path, kind, flavour):
    folder = NewPlugin(kind, f"fresh_{kind}_{flavour}", flavour).write(tmp_path)
    reports = check_plugins(str(folder / f"rankplug_{folder.name}" / "plugin.py"))
    failed = "\n".join(finding.what for report in reports for finding in report.findings if finding.failed)
    assert not failed, failed
    assert kind in {report.plugin.specification.kind for report in reports}
    registry.cache_clear()


# Some need parameters, or are checked on less.
WORDS = {
    "synthetic": "synthetic[queries=60]",
    "truncate_lists": "truncate_lists[size=4,keep=random]",
    "label_flips": "label_flips[share=0.5]",
    "negative_augmentation": "negative_augmentation[share=0.5]",
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted(CONTRACTS.keys() - {"loss", "metric"}))
@pytest.mark.timeout(3000)
def test_everything_that_comes_with_rankplug_keeps_its_contract(kind):
    """Losses and metrics have tests of their own."""
    for plugin in list(registry().plugins(kind)):
        specification = plugin.specification
        made = kind != "dataset" or specification.name == "synthetic"
        if made and plugin.distribution == "rankplug":
            word = WORDS.get(specification.name, specification.name)
            for report in check_plugins(word, kind):
                assert [finding for finding in report.findings if finding.failed] == []


def write_package(folder: Path, name: str, plugin: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install a distribution with one entry point, for this process."""
    (folder / f"{name}_plugin.py").write_text(plugin)
    information = folder / f"rankplug_{name}-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: rankplug-{name}\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(f"[rankplug]\n{name} = {name}_plugin\n")
    (information / "RECORD").write_text("")
    monkeypatch.syspath_prepend(str(folder))
    registry.cache_clear()


def test_an_installed_broken_plugin_is_named_with_its_error(tmp_path, monkeypatch):
    write_package(tmp_path, "brokenloss", "import a_module_that_is_missing\n", monkeypatch)
    try:
        with pytest.raises(BrokenPluginError, match=r"is installed, but .* No module named 'a_module_that_is_missing'"):
            check_plugins("brokenloss")
    finally:
        monkeypatch.undo()
        registry.cache_clear()


def test_a_syntax_error_gets_its_line_as_remedy(tmp_path):
    (tmp_path / "unclosed_code.py").write_text("\ndef unclosed(scores, labels:\n")
    path = tmp_path / "unclosed_plugin.py"
    path.write_text(
        "from rankplug import LossSpecification, hookimpl\n@hookimpl\ndef rankplug_losses():\n"
        "    return [LossSpecification(name='unclosed', summary='x', implementation='unclosed_code:unclosed')]\n"
    )
    (report,) = check_plugins(str(path))
    (finding,) = report.findings
    assert finding.fix == f"correct line 2 of {tmp_path / 'unclosed_code.py'}"
    registry.cache_clear()


def test_a_misspelt_argument_of_a_marked_loss_is_suggested(tmp_path):
    path = tmp_path / "misspelt_argument.py"
    path.write_text("import rankplug\n\n\n@rankplug.loss\ndef off(scores, label, gradient):\n    return 0.0\n")
    with pytest.raises(BrokenPluginError, match=r"the argument label, which is not supplied: did you mean labels\?"):
        check_plugins(str(path))
