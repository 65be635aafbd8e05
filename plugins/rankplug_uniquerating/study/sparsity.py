"""Section 6: whether sparse features favour trees. The same data are trained on as they are and made sparse.

The text's reason why trees lead on MSLR is that most features there are sparse. Between collections many things differ,
so only the sparsity is changed here: each feature is lowered by its quantile and cut off at 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from rankplug.studies import Results, Sample, interval_of
from rankplug.system import trial_seed
from rankplug_uniquerating.study.protocol import PLACES, SPARSE, TABLES, group_of

NETWORK, TREES, METRIC = "uRank", "uMart", "ndcg@10"


def groups_of(results: Results) -> dict[str, str]:
    """Return the groups with the features as they are and made sparse; empty where these were not run."""
    sparse = next(iter(results.groups(kind=SPARSE)), "")
    return {"as they are": group_of(results, results.place(sparse), TABLES), "made sparse": sparse} if sparse else {}


def change_of_the_lead(results: Results) -> dict[str, Sample]:
    """Return the trees' lead on sparse features less that on the features as they are; empty where not run."""
    groups = groups_of(results)
    if not groups:
        return {}
    dense, sparse = groups.values()
    cells = {(sparse, TREES): 1.0, (sparse, NETWORK): -1.0, (dense, TREES): -1.0, (dense, NETWORK): 1.0}
    return {f"{results.collection(sparse, results.place(sparse))} {METRIC}": results.contrast(METRIC, cells)}


def share_of_zeros(dataset: str, transforms: tuple[str, ...] = (), seed: int = 0) -> float:
    """Return the share of a training part's feature values that are 0, in percent.

    >>> share_of_zeros("synthetic[queries=50,documents=10]", ("sparse_features[share=0.8]",)) > 75
    True
    """
    from rankplug.data import load

    features = load(dataset, seed=trial_seed(seed, 0), transforms=transforms).train.features
    return 100.0 * (1.0 - float(np.count_nonzero(features)) / features.size)


def table(results: Results) -> tuple[pd.DataFrame, None]:
    """Return each place's share of zeros and the trees' lead in points, and both where features were made sparse."""
    cells = [(place, "as they are", group) for place in PLACES if (group := group_of(results, place))]
    cells += [(results.place(group), "made sparse", group) for group in list(groups_of(results).values())[1:]]
    rows: list[dict[str, Any]] = []
    for place, features, group in cells:
        runs = results.runs[group]
        first = [name for name in runs.models[TREES]["transforms"] if name.startswith("sparse_features")]
        zeros = share_of_zeros(str(runs.shared["dataset"]), tuple(first), int(runs.shared.get("seed", 0)))
        lead = interval_of(results.contrast(METRIC, {(group, TREES): 100.0, (group, NETWORK): -100.0}))
        row = {"in the place of": place, "features": features, "zeros (%)": zeros, "lead of trees": lead.point}
        row |= {"low": lead.low, "high": lead.high}
        rows.append({**row, "combination": results.combinations_of(group, TREES, NETWORK)})
    columns = ["in the place of", "features", "zeros (%)", "lead of trees", "low", "high", "combination"]
    return pd.DataFrame(rows, columns=columns), None
