"""Commands plan without writing, estimate their time, complete names, and report what an interruption leaves."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import rankplug as rp
from rankplug.authoring import Compilation
from rankplug.cli import COMMANDS, app
from rankplug.registry import registry
from rankplug.store import Store
from rankplug.studies import studies
from rankplug.sweeps import Plan, expected_time, read_words
from rankplug.system import notebooks_folder

Make = Callable[..., Any]
GRID = ["loss=[mse,ranknet]", "backend=lightgbm", "dataset=synthetic", "metrics=[ndcg@5,mrr]"]


def run(*words: str, code: int = 0) -> str:
    done = CliRunner().invoke(app, list(words), catch_exceptions=False)
    assert done.exit_code == code, done.output
    return done.output


def test_a_dry_run_changes_nothing(store: Store, fill: Make, tmp_path: Path) -> None:
    fill(store, {"mse": 0.0}, folds=(1,))
    here, out = f"--store {store.folder}", tmp_path / "out"
    before = sorted(tmp_path.rglob("*"))
    for words in (
        f"results merge {store.folder} --store {out}",
        f"results compact {here}",
        f"results clean {here}",
        f"results export {out} {here}",
        f"results --group-by loss --plot {out}.png {here}",
        f"new loss my_loss --into {tmp_path}",
        f"lab {out}",
        f"train synthetic --loss mse --out {out}",
        f"trec qrels synthetic --out {out}",
        f"report xendcg --profile smoke {here} --report {out}",
        "data get mslr-web10k",
        "data prepare mslr-web10k",
        f"tune loss=mse backend=lightgbm dataset=synthetic --budget 3 {here}",
        f"scoreboard xendcg {here} --report {out}",
    ):
        assert run(*words.split(), "--dry-run"), words
    assert sorted(tmp_path.rglob("*")) == before
    judgements = json.loads(run(*f"trec qrels synthetic --out {out} --dry-run --json".split()))
    assert judgements["judgements"] == rp.load("synthetic").test.documents and not judgements["written"]
    exported = json.loads(run(*f"results export {out} {here} --dry-run --json".split()))
    assert (exported["results"], exported["written"]) == (3, False)


def test_a_dry_run_of_a_reproduction_sums_by_study(tmp_path: Path) -> None:
    words = ("reproduce", "xendcg", "logrank", "--profile", "smoke", "--store", str(tmp_path), "--dry-run")
    counts = {line.split()[0]: line.split()[1:] for line in run(*words).splitlines() if line}
    planned = len(json.loads(run(*words, "--json"))["run"])
    assert sum(int(counts[name][0]) for name in ("xendcg", "logrank")) == planned > 10
    assert len(counts) < 10


def test_a_plan_estimates_its_time_from_the_records(store: Store, fill: Make) -> None:
    fill(store, {"mse": 0.0}, folds=(1,))  # three trials of 1.5 seconds each
    plan = read_words(GRID).with_repetitions(5, None).plan(store)
    assert (len(plan.waiting), len(plan.done)) == (7, 3)
    expected = expected_time(plan.waiting, store)
    assert (expected.seconds, expected.known, expected.trials) == (7 * 1.5, 7, 7)
    other = read_words([*GRID[:2], "dataset=synthetic[queries=60]"]).plan(store)
    assert expected_time(other.waiting, store).known == 0
    planned = ("sweep", *GRID, "--trials", "5", "--dry-run", "--store", str(store.folder))
    assert "about 10 s" in run(*planned)
    assert "about 5 s" in run(*planned, "--jobs", "2")
    described = json.loads(run(*planned, "--json"))
    assert (len(described["run"]), len(described["done"]), described["seconds"]) == (7, 3, 10.5)


def test_an_interruption_reports_what_is_stored(store: Store, made_result: Make, monkeypatch: Any) -> None:
    def interrupted(plan: Plan, store: Store, **options: Any) -> None:
        for trial in plan.waiting[:5]:
            store.write(made_result(trial))
        raise KeyboardInterrupt

    monkeypatch.setattr("rankplug.sweeps.run", interrupted)
    output = run("sweep", *GRID, "--trials", "4", "--store", str(store.folder), code=130)
    assert "5 of 8 trials are stored" in output


def test_help_lists_every_command_once_in_a_group() -> None:
    lines = run("--help").splitlines()
    groups = [lines.index(f"{title}:") for title in COMMANDS]
    listed = [line.split()[0] for line in lines[groups[0] :] if line.startswith("  ") and line[2] != " "]
    assert groups == sorted(groups) and len(set(listed)) == len(listed)
    assert {"train", "trec", "explain", "results", "data", "reproduce", "doctor", "new"} <= set(listed)
    assert not any("..." in line for line in lines[groups[0] :])


@pytest.mark.parametrize(
    ("line", "kind"),
    [("train synthetic --loss ", "loss"), ("train ", "dataset"), ("reproduce ", "study"), ("data info ", "dataset")],
)
def test_shells_complete_names_of_plugins(line: str, kind: str) -> None:
    words = f"rankplug {line}"
    number = len(words.split(" ")) - 1
    variables = {"_RANKPLUG_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(number)}
    program = Path(sys.executable).parent / "rankplug"
    done = subprocess.run([program], capture_output=True, text=True, env=os.environ | variables, check=False)
    assert set(done.stdout.split()) == {plugin.specification.name for plugin in registry().plugins(kind)}


def test_a_list_of_plugins_fits_eighty_columns() -> None:
    lines = run("plugins").splitlines()
    assert max(map(len, lines)) <= 80
    assert {plugin.specification.name for plugin in registry().plugins()} <= set(" ".join(lines).split())


def test_lab_copies_every_notebook_once(tmp_path: Path) -> None:
    folder, own = tmp_path / "mine", notebooks_folder()
    shipped = {path.name for path in own.glob("**/[!.]*.ipynb") if ".ipynb_checkpoints" not in path.parts}
    assert "already" not in run("lab", str(folder), "--copy-only")
    copied = {path.name for path in folder.rglob("*.ipynb")}
    assert copied == shipped | {study.notebook_path.name for study in studies()}
    (folder / "combination.ipynb").write_text("changed")
    (folder / "data.ipynb").unlink()
    assert f"({len(copied) - 1} already present)" in run("lab", str(folder), "--copy-only")
    assert (folder / "combination.ipynb").read_text() == "changed" and (folder / "data.ipynb").exists()


@pytest.mark.parametrize("words", [["mine", "--", "--port", "9999", "--allow-root"], ["--", "--port", "9999"]])
def test_lab_passes_options_to_jupyterlab(words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[list[str]] = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(subprocess, "call", lambda command, env: commands.append(command) or 0)
    run("lab", *words)
    expected = [words[0] if words[0] != "--" else "notebooks", *words[words.index("--") + 1 :]]
    assert commands[0][-len(expected) :] == expected


@pytest.mark.slow
def test_warm_compiles_for_the_next_process(tmp_path: Path) -> None:
    words = [sys.executable, "-c", "from rankplug.cli import main; main()", "warm", "mrr", "--json"]

    def compiled() -> tuple[Compilation, list[Path]]:
        environment = {**os.environ, "RANKPLUG_CACHE": str(tmp_path)}
        done = subprocess.run(words, capture_output=True, text=True, env=environment, check=True)
        files = sorted(path for path in tmp_path.rglob("*") if path.is_file())
        return Compilation(**json.loads(done.stdout)[0]), files

    (first, files), (second, same_files) = compiled(), compiled()
    assert first.kept and not second.kept and second.seconds < first.seconds
    assert files == same_files
