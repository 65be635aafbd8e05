"""Kills commands at random moments, lets the disk fail at every write in turn, and compares what is there in the end.

Each case runs a command in a folder of its own, disturbs it, then runs it again undisturbed; the folder must hold what
an undisturbed run leaves. In between, reading must answer, no process may be left, and no file for good. A log of one
line a case makes a campaign resumable: cases that it has are not run again::

    python tests/reliability/campaign kills 500 --folder /tmp/campaign --seconds 3600
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path

os.environ |= {"RANKPLUG_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "CI": "1"}

# Forks of this process need not import it again.
import duckdb  # noqa: F401
import lightgbm  # noqa: F401
import matplotlib.pyplot as plt  # noqa: F401
import pyarrow.parquet  # noqa: F401
import rankplug_lightgbm.backend  # noqa: F401
import scipy.stats  # noqa: F401
from cases import Campaign
from counts import table, write_into
from failing_writes import can_preload, preload
from numba.core.registry import cpu_target

cpu_target.typing_context.refresh()
cpu_target.target_context.refresh()

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=["kills", "disk", "limit", "full", "share", "counts"])
    parser.add_argument("number", type=int)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--command", action="append", default=[], help="only this one; may be repeated")
    parser.add_argument("--seconds", type=float, default=3600.0)
    parser.add_argument("--page", type=Path, help="page whose table of counts is written anew")
    given = parser.parse_args()
    folder = given.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    if given.kind == "disk":
        if not can_preload():
            parser.exit(message="only Linux with a compiler of C can have a disk that fails at one call\n")
        preload(folder)
    campaign, until = Campaign(folder, given.command), time.monotonic() + given.seconds
    if given.kind != "counts":
        for _ in getattr(campaign, given.kind)(given.number):
            if time.monotonic() > until:
                break
    lines = [json.loads(line) for line in campaign.log.read_text().splitlines()] if campaign.log.exists() else []
    print(table(lines))
    if given.page:
        write_into(given.page, lines)
