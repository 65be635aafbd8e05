"""Worker processes import nothing from the working folder, and do not run the user's script again."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROGRAM = """
import sys
import rankplug as rp

# Workers of Dask import the script, as those of the standard library do.
if __name__ == "__main__" or sys.argv[1] == "jobs":
    options = {"jobs": {"jobs": 2}, "notebooks": {"notebooks": True}, "cluster": {"cluster": "local"}}[sys.argv[1]]
    grid = {"loss": ["mse", "ranknet"], "dataset": "synthetic[queries=20,documents=8]", "metrics": "ndcg@5"}
    fitter = {"backend": "lightgbm", "scorer": "trees[rounds=2,leaves=4]"}
    outcome = rp.sweep({**grid, **fitter}, store=sys.argv[2], progress=False, **options)
    print(len(outcome.plan.waiting), len(outcome.store.paths()), outcome.failures, outcome.not_run)
"""


@pytest.mark.parametrize(
    "way", ["jobs", pytest.param("notebooks", marks=pytest.mark.slow), pytest.param("cluster", marks=pytest.mark.slow)]
)
def test_modules_in_the_working_folder_are_not_imported(way, tmp_path):
    program = tmp_path / "elsewhere" / "program.py"
    program.parent.mkdir()
    program.write_text(PROGRAM)
    folder = tmp_path / "working"
    folder.mkdir()
    for name in ("pickle", "socket", "queue"):
        (folder / f"{name}.py").write_text(
            f"open({str(tmp_path / 'imported')!r}, 'a').write({name!r})\nraise SystemExit\n"
        )
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    done = subprocess.run(
        [sys.executable, str(program), way, str(tmp_path / "store")],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.stdout.strip() == "2 2 [] []", done.stderr
    assert not (tmp_path / "imported").exists()
