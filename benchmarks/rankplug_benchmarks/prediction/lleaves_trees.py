"""Predicts by lleaves, which compiles trees to machine code: ``lleaves_trees.py ARRAYS WAY THREADS``; see ``peers.py``.

Each line is answered with the last of some calls, so that it is as warm as one of many.
"""

import sys
import tempfile
import time
from pathlib import Path

import lleaves
import numpy as np

arrays, _, threads = sys.argv[1:]
given = np.load(arrays)
rows, text = given["rows"], str(given["model"])
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "model.txt"
    # It wants to be told an objective; that of LightGBM's plain scores.
    path.write_text(text.replace("\nmax_feature_idx=", "\nobjective=regression\nmax_feature_idx=", 1))
    model = lleaves.Model(model_file=path)
    model.compile()

for _ in sys.stdin:
    for _ in range(20):
        begin = time.perf_counter()
        model.predict(rows, n_jobs=int(threads))
        seconds = time.perf_counter() - begin
    print(seconds, flush=True)
