"""Reads text by another library: ``peer_readers.py ARRAYS WAY THREADS``; see ``peers.py``."""

import sys
import time

import numpy as np

arrays, way, _ = sys.argv[1:]
path = str(np.load(arrays)["path"])
if way == "reading":
    import svmloader

    read = lambda: svmloader.load_svmfile(path, dtype="f")  # noqa: E731
else:
    import vowpalwabbit

    # It learns from a file in one pass while it reads; without a cache, so that it reads it again each time.
    read = lambda: vowpalwabbit.Workspace(f"-d {path} --quiet -b 18").finish()  # noqa: E731

for _ in sys.stdin:
    begin = time.perf_counter()
    read()
    print(time.perf_counter() - begin, flush=True)
