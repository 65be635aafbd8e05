"""Shells complete commands, options, plugins, their parameters and their values, as one types them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from rankplug.cli import app
from rankplug.cli.completion import SCRIPTS, Shell, candidates
from rankplug.registry import registry

BREAKS = " \t\n\"'@><=;|&(:"


def completed(*words: str) -> list[str]:
    return candidates(typer.main.get_command(app), words)


def names(kind: str) -> set[str]:
    return {plugin.specification.name for plugin in registry().plugins(kind)}


def test_commands_options_and_choices_are_completed() -> None:
    assert completed("repr") == ["reproduce "]
    assert completed("data", "pr") == ["prepare "]
    assert completed("train", "synthetic", "--los") == ["--loss "]
    assert completed("results", "--format", "l") == ["latex"]
    assert completed("reproduce", "xendcg", "--profile", "s") == ["smoke"]


@pytest.mark.parametrize(
    ("words", "kind"),
    [(("train", "synthetic", "--loss"), "loss"), (("train",), "dataset"), (("data", "info"), "dataset"),
     (("reproduce",), "study"), (("train", "--metric"), "metric")],
)  # fmt: skip
def test_every_plugin_of_a_kind_is_completed(words: tuple[str, ...], kind: str) -> None:
    assert {found.removesuffix("[") for found in completed(*words, "")} == names(kind)


def test_a_grid_is_completed_down_to_the_values_of_parameters() -> None:
    for kind, name in {"backend": "lightgbm", "loss": "lambdarank", "scorer": "trees"}.items():
        registry().find(kind, name)
    assert completed("sweep", "back") == ["backend="]
    assert completed("sweep", "loss=mse", "backend=light") == ["backend=lightgbm", "backend=lightgbm["]
    assert completed("sweep", "loss=[mse,approx") == ["loss=[mse,approx_ndcg", "loss=[mse,approx_ndcg["]
    assert completed("sweep", "loss=[lambdarank[sigma=[1,2],no") == ["loss=[lambdarank[sigma=[1,2],norm="]
    assert completed("sweep", "loss=lambdarank[norm=t") == ["loss=lambdarank[norm=true"]
    assert completed("sweep", "scorer=trees[boosting=[gbdt,d") == ["scorer=trees[boosting=[gbdt,dart"]
    assert completed("sweep", "loss=nothing[") == []


@pytest.mark.parametrize(
    ("line", "replies"),
    [
        pytest.param("rankplug sweep loss=xe_", ["xe_ndcg", "xe_ndcg["]),
        pytest.param("rankplug sweep 'loss=[mse,xe_", ["loss=[mse,xe_ndcg", "loss=[mse,xe_ndcg["]),
        pytest.param("rankplug sweep loss='[mse,xe_", ["[mse,xe_ndcg", "[mse,xe_ndcg["]),
        pytest.param(
            *("rankplug train synthetic --backend light", ["lightgbm", "lightgbm["]),
        ),
        ("rankplug data ver", ["verify "]),
    ],
)
def test_bash_gets_what_it_puts_in_the_place_of_its_own_word(line: str, replies: list[str]) -> None:
    """Bash ends a word at =, and begins a new one, which alone is replaced."""
    script = f"""{SCRIPTS[Shell.BASH]}
COMP_LINE="$1" COMP_POINT=${{#1}} COMP_WORDBREAKS="$2"
_rankplug
printf '%s\\n' "${{COMPREPLY[@]}}" """
    found = subprocess.run(["bash", "-c", script, "bash", line, BREAKS], env=_with_ours_first(), check=True,
                           capture_output=True, text=True)  # fmt: skip
    assert found.stdout.splitlines() == replies


@pytest.mark.parametrize(("shell", "check"), [("bash", "-n"), ("zsh", "-n"), ("fish", "--no-execute")])
def test_the_scripts_are_read_by_their_shells(shell: str, check: str, tmp_path: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not here")
    script = tmp_path / "script"
    script.write_text(SCRIPTS[Shell(shell)])
    subprocess.run([shell, check, script], check=True)


@pytest.mark.parametrize(
    ("line", "replies"),
    [
        pytest.param("rankplug sweep loss=xe_", ["loss=xe_ndcg", "loss=xe_ndcg["]),
        ("rankplug data ver", ["verify"]),
        ("rankplug evaluate mod", ["model.txt"]),
        ("rankplug train 'synthetic[queries=", []),
    ],
)
def test_fish_completes(line: str, replies: list[str], tmp_path: Path) -> None:
    """Fish writes a space behind what is whole; one that belongs to a word would be escaped."""
    if shutil.which("fish") is None:
        pytest.skip("fish is not here")
    (tmp_path / "model.txt").touch()
    script = f'{SCRIPTS[Shell.FISH]}\ncomplete -C "{line}"'
    found = subprocess.run(["fish", "-c", script], env=_with_ours_first(), check=True, capture_output=True, text=True,
                           cwd=tmp_path)  # fmt: skip
    assert found.stdout.splitlines() == replies


@pytest.mark.parametrize(
    ("words", "called"),
    [
        pytest.param(("sweep", "loss=xe_"), ["-S||--|loss=xe_ndcg|loss=xe_ndcg[", "--"]),
        (("data", "ver"), ["-S||--", "--|verify"]),
        (("evaluate", "mod"), ["files"]),
    ],
)
def test_zsh_is_told_which_words_are_whole(words: tuple[str, ...], called: list[str]) -> None:
    if shutil.which("zsh") is None:
        pytest.skip("zsh is not here")
    script = f"""compdef() {{ }}
compadd() {{ print -r -- "${{(j:|:)@}}" }}
_files() {{ print files }}
{SCRIPTS[Shell.ZSH]}
words=(rankplug "$@") CURRENT=$(( $# + 1 ))
_rankplug"""
    found = subprocess.run(["zsh", "-f", "-c", script, "zsh", *words], env=_with_ours_first(), check=True,
                           capture_output=True, text=True)  # fmt: skip
    assert found.stdout.splitlines() == called


def _with_ours_first() -> dict[str, str]:
    return {**os.environ, "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])}


INTERACTIVE = """
zmodload zsh/zpty || exit 3
zpty shell zsh -f -i
read_until() {
  local found= read=
  for attempt in {1..600}; do
    zpty -r -t shell read && found+=${read//$'\\a'} || sleep 0.1
    [[ $found == *$~1* ]] && break
  done
  print -r -- "$found"
}
zpty -w shell "PS1=; autoload -U compinit; compinit -D -u; source $1; bindkey '^I' complete-word; print read''y"
read_until ready > /dev/null
zpty -n -w shell "$2"$'\\t'
read_until "$3"
zpty -d shell
"""
"""Types a line into a terminal of its own and a tab, and prints what stands there once it has what is waited for."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "whole"),
    [
        pytest.param("rankplug train synthetic --loss xe_nd", "--loss xe_ndcg"),
        ("rankplug scoreboard --dr", "scoreboard --dry-run"),
    ],
)
def test_an_interactive_zsh_completes(line: str, whole: str, tmp_path: Path) -> None:
    if shutil.which("zsh") is None:
        pytest.skip("zsh is not here")
    script = tmp_path / "completion.zsh"
    script.write_text(SCRIPTS[Shell.ZSH])
    done = subprocess.run(["zsh", "-f", "-c", INTERACTIVE, "zsh", script, line, whole], env=_with_ours_first(),
                          capture_output=True, text=True)  # fmt: skip
    if done.returncode == 3:
        pytest.skip("zsh has no terminals of its own (zsh/zpty) here")
    assert whole in done.stdout
