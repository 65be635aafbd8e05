"""Trains trees by another library: ``peer_boosters.py ARRAYS WAY THREADS``; see ``peers.py``.

YDF tells nothing between its trees, so the seconds of one are those of some trees less those of one, by their number.
"""

import os
import sys
import time

import numpy as np
import ydf

# It talks on standard output, where seconds are expected.
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
TREES = 4

arrays, way, threads = sys.argv[1:]
given = np.load(arrays)
ydf.verbose(0)
columns = {f"f{place}": column for place, column in enumerate(given["features"].T)}
data = ydf.create_vertical_dataset(
    {**columns, "label": given["labels"], "query": given["queries"].astype(bytes)},
    columns=[ydf.Column("label", ydf.Semantic.NUMERICAL), ydf.Column("query", ydf.Semantic.HASH)],
    include_all_columns=True,
    discretize_numerical_columns=True,
)


def train(trees: int) -> float:
    learner = ydf.GradientBoostedTreesLearner(
        label="label",
        ranking_group="query",
        task=ydf.Task.RANKING,
        loss="LAMBDA_MART_NDCG",
        num_trees=trees,
        growing_strategy="BEST_FIRST_GLOBAL",
        max_num_nodes=2 * int(given["leaves"]) - 1,
        max_depth=-1,
        min_examples=50,
        shrinkage=0.02,
        validation_ratio=0.0,
        num_threads=int(threads),
    )
    begin = time.perf_counter()
    learner.train(data)
    return time.perf_counter() - begin


for _ in sys.stdin:
    print((train(1 + TREES) - train(1)) / TREES, file=answers, flush=True)
