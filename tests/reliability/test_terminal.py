"""Text from others is shown in a terminal and never steers it, and a command needs no terminal at all."""

from __future__ import annotations

import json
import re
import shlex
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankplug as rp
from rankplug.cli import main
from rankplug.registry import BrokenPlugin, registry
from rankplug.store import Store, Trial
from rankplug.sweeps import failed_result
from rankplug.system import escape_control_characters

STEERING = (
    "\x1b[2J\x1b]0;title\x07\x1b]52;c;Y2F0\x07\x1b]8;;mailto:elsewhere\x1b\\\x9b31m\x08\r\x7f\u202egnp\u2066\u200f"
)
OBEYED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
OUR_COLOURS = re.compile(r"\x1b\[\d{1,2}m")


@given(st.text())
def test_harmless_text_steers_no_terminal(text: str) -> None:
    shown = escape_control_characters(text)
    assert not OBEYED.search(shown)
    shown.encode()
    if not OBEYED.search(text) and text.isprintable():
        assert shown == text


@pytest.fixture(scope="module")
def forged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a store, a data file and a model of which every name and message wants to steer a terminal."""
    folder = tmp_path_factory.mktemp("forged")
    data = folder / f"data{STEERING}.txt"
    data.write_text("".join(f"{n % 3} qid:{n // 5} 1:{n / 7:.3f} 2:{n % 4}\n" for n in range(50)) + f"1 {STEERING}\n")
    store = Store(folder / "store")
    for seed in range(2):
        combination = rp.Combination(dataset="synthetic", backend="lightgbm", loss="mse", seed=seed)
        store.write(failed_result(Trial(combination), f"Error: {STEERING}\n{STEERING}"))
    (folder / f"model{STEERING}").write_text("tree")
    sidecar = {"format": STEERING, "backend": STEERING, "digest": STEERING, "record": {STEERING: STEERING}}
    (folder / f"model{STEERING}.rankplug.json").write_text(json.dumps(sidecar))
    (folder / "sweep.yaml").write_text(json.dumps({STEERING: STEERING}))
    return folder


COMMANDS = [
    "rankplug results --sql 'select failure from failures'",
    "rankplug sweep sweep.yaml --dry-run",
    "rankplug data prepare 'letor-file[path=\"dataSTEERING.txt\"]'",
    "rankplug --debug train 'letor-file[path=\"dataSTEERING.txt\"]' --loss mse --out new.txt",
    "rankplug evaluate modelSTEERING",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_no_sequence_from_elsewhere_reaches_a_terminal(
    command: str, forged: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(forged)
    monkeypatch.setenv("RANKPLUG_RESULTS", str(forged / "store"))
    monkeypatch.setattr(registry(), "broken", [BrokenPlugin("bad", STEERING, STEERING, STEERING, STEERING)])
    monkeypatch.setattr(registry(), "remarks", [STEERING])
    for stream in (sys.stdout, sys.stderr):
        monkeypatch.setattr(stream, "isatty", lambda: True)
    monkeypatch.setattr(sys, "argv", [word.replace("STEERING", STEERING) for word in shlex.split(command)])
    with pytest.raises(SystemExit):
        main()
    said = "".join(capsys.readouterr())
    assert said.strip()
    assert not OBEYED.search(OUR_COLOURS.sub("", said)), ascii(said)
