"""Test quality of linear models, trees and networks on made data by the number of training queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rankplug.data import Split, load
from rankplug.metrics import metric
from rankplug.registry import registry
from rankplug.statistics import t_interval
from rankplug.system import generator
from rankplug.training import fit
from rankplug_data.synthetic.collection import oracle

if TYPE_CHECKING:
    import pandas as pd

SCALED = ("log1p", "standardise")
AS_SCALED = "l2=0,schedule=constant,scaling=none"
MODELS: dict[str, dict[str, str]] = {
    "linear": {"backend": f"torch[epochs=15,batch=10,lr=0.003,{AS_SCALED}]", "scorer": "linear"},
    "trees": {
        "backend": "lightgbm",
        "scorer": "trees[leaves=31,learning_rate=0.07,min_data=50,rounds=150,l2=0,feature_fraction=1]",
    },
    "network": {"backend": f"torch[epochs=20,batch=10,lr=0.001,{AS_SCALED}]", "scorer": "mlp[layers=(128,64)]"},
}


def learning_curves(
    dataset: str,
    sizes: Sequence[int],
    *,
    loss: str = "cross_entropy",
    measure: str = "ndcg@10",
    seed: int = 0,
    models: Mapping[str, Mapping[str, str]] = MODELS,
) -> pd.DataFrame:
    """Return the mean test quality by model and number of training queries, which is missing for chance and the oracle.

    With half of its 95 % t interval over the test queries.

    Features are on a logarithmic scale and standardised, and the validation part chooses the iteration, for all models
    alike. The oracle ranks by the relevance function that the judges perceive with noise.

    Args:
        dataset: a made data set, such as ``"synthetic[queries=600]"``.
        sizes: numbers of training queries, the first ones of the training part.
        loss: what every model minimises.
        measure: the metric.
        seed: of the data and of training.
        models: backend and scorer of each model.
    """
    import pandas as pd

    _, parameters = registry().resolve("dataset", dataset)
    split = load(dataset, seed=seed, transforms=SCALED)

    def quality(scores: Any) -> dict[str, float]:
        values = metric(measure)(scores, split.test.labels, split.test.starts)
        interval = t_interval(values[np.isfinite(values)], unit="queries")
        return {"value": interval.point, "half width": interval.half_width}

    rows: list[dict[str, Any]] = [
        {"model": name, "queries": size, **quality(_fitted(split, settings, size, loss, measure, seed))}
        for name, settings in models.items()
        for size in sizes
    ]
    chance = generator(seed, "chance").random(split.test.documents)
    rows.append({"model": "oracle", "queries": None, **quality(oracle(parameters, seed)[2])})  # type: ignore[arg-type]
    rows.append({"model": "chance", "queries": None, **quality(chance)})
    return pd.DataFrame(rows)


def _fitted(split: Split, settings: Mapping[str, str], size: int, loss: str, measure: str, seed: int) -> Any:
    model = fit(
        settings["backend"],
        scorer=settings["scorer"],
        loss=loss,
        train=split.train[:size],
        valid=split.valid,
        selection=measure,
        patience=20,
        train_curve=False,
        progress=False,
        seed=seed,
    )
    return model.predict(split.test.features)
