"""Predicts by treelite's trees, walked (GTIL) or compiled by tl2cgen: ``treelite_trees.py ARRAYS WAY THREADS``.

Each line is answered with the last of some calls, so that it is as warm as one of many; see ``peers.py``.
"""

import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import tl2cgen
import treelite

# The compiler talks on standard output, where seconds are expected.
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)

arrays, way, threads = sys.argv[1:]
given = np.load(arrays)
rows, text = given["rows"], str(given["model"])
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "model.txt"
    # It wants to be told an objective; that of LightGBM's plain scores.
    path.write_text(text.replace("\nmax_feature_idx=", "\nobjective=regression\nmax_feature_idx=", 1))
    model = treelite.frontend.load_lightgbm_model(path)
    if way == "GTIL":
        predict = lambda: treelite.gtil.predict(model, rows, nthread=int(threads), pred_margin=True)  # noqa: E731
    else:
        library = str(Path(folder) / "trees.so")
        tl2cgen.export_lib(model, toolchain="gcc", libpath=library)
        compiled = tl2cgen.Predictor(library, nthread=int(threads))
        predict = lambda: compiled.predict(tl2cgen.DMatrix(rows), pred_margin=True)  # noqa: E731

for _ in sys.stdin:
    for _ in range(20):
        begin = time.perf_counter()
        predict()
        seconds = time.perf_counter() - begin
    print(seconds, file=answers, flush=True)
