"""Predicts by trees of another library: ``peer_trees.py ARRAYS WAY THREADS``; see ``peers.py``.

The way is ``machine code``, which lleaves compiles trees to, ``GTIL``, by which treelite walks them, or ``tl2cgen``,
which compiles treelite's. Each line is answered with the last of some calls, so that it is as warm as one of many.
"""

import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

# Compilers talk on standard output, where seconds are expected.
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)

arrays, way, threads = sys.argv[1:]
given = np.load(arrays)
rows, text = given["rows"], str(given["model"])
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "model.txt"
    # They want to be told an objective; that of LightGBM's plain scores.
    path.write_text(text.replace("\nmax_feature_idx=", "\nobjective=regression\nmax_feature_idx=", 1))
    if way == "machine code":
        import lleaves

        model = lleaves.Model(model_file=path)
        model.compile()
        predict = lambda: model.predict(rows, n_jobs=int(threads))  # noqa: E731
    else:
        import tl2cgen
        import treelite

        trees = treelite.frontend.load_lightgbm_model(path)
        predict = lambda: treelite.gtil.predict(trees, rows, nthread=int(threads), pred_margin=True)  # noqa: E731
        if way == "tl2cgen":
            library = str(Path(folder) / "trees.so")
            tl2cgen.export_lib(trees, toolchain="gcc", libpath=library)
            compiled = tl2cgen.Predictor(library, nthread=int(threads))
            predict = lambda: compiled.predict(tl2cgen.DMatrix(rows), pred_margin=True)  # noqa: E731

for _ in sys.stdin:
    for _ in range(20):
        begin = time.perf_counter()
        predict()
        seconds = time.perf_counter() - begin
    print(seconds, file=answers, flush=True)
