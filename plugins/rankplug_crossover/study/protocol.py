"""What the comparison runs: every loss with every backend, plain and with noise, at five sizes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from rankplug.registry import registry
from rankplug.studies import Profile, Results, Runs
from rankplug.system import generator


@dataclass(frozen=True)
class Size:
    """Sizes of a profile.

    Args:
        collections: names in figures -> data sets.
        papers_only: crosses the papers' own losses, and not every installed one.
        folds: folds of each.
        trials: repetitions.
        compared: repetitions of the models that claims compare with each other; as all others where there are none.
        epochs: most epochs of networks.
        rounds: trees at most.
        leaves: leaves of a tree.
        iterations: iterations of L-BFGS for each value of C, and planes of SVM-MAP.
        C: values that validation data choose from.
        restarts: starts of ExpGain, which is not convex, beside the start at 0.
        samples: draws of noise.
        rankings: that LogRank's losses draw.
        patience: epochs and trees without improvement after which training stops.
        tuned_on: names in figures -> data sets on which models are tuned by one protocol; none where there are none.
        draws: hyper-parameters drawn for each of these models.
        tuned_trials: their repetitions.
    """

    collections: Mapping[str, str]
    papers_only: bool = False
    folds: tuple[int, ...] = (1,)
    trials: int = 3
    compared: int = 0
    epochs: int = 100
    rounds: int = 200
    leaves: int = 31
    iterations: int = 60
    C: tuple[float, ...] = (0.01, 0.1, 1.0, 10.0)
    restarts: int = 2
    samples: int = 8
    rankings: int = 200
    patience: tuple[int | None, int | None] = (20, 40)
    tuned_on: Mapping[str, str] = field(default_factory=dict)
    draws: int = 4
    tuned_trials: int = 1


SIZES: Mapping[Profile, Size] = {
    "smoke": Size(
        {"made as OHSUMED": "synthetic[shape=ohsumed,queries=25,documents=10]"},
        trials=2,
        compared=2,
        epochs=1,
        rounds=3,
        leaves=4,
        iterations=3,
        C=(0.1, 10.0),
        restarts=0,
        samples=2,
        rankings=10,
        patience=(None, None),
        tuned_on={
            "made as OHSUMED": "synthetic[shape=ohsumed,queries=25,documents=10]",
            "made as MSLR": "synthetic[shape=mslr,queries=25,documents=10]",
        },
        draws=2,
        tuned_trials=2,
    ),
    # Five minutes for all studies: half of the losses, and few trials; what claims compare needs the profile full.
    "quick": Size(
        {"made as MSLR": "synthetic[shape=mslr,queries=150,documents=15,test_queries=1000]"},
        papers_only=True,
        trials=2,
        compared=4,
        epochs=8,
        rounds=25,
        leaves=8,
        iterations=12,
        C=(0.1, 10.0),
        restarts=1,
        samples=2,
        rankings=50,
        patience=(None, None),
    ),
    "full": Size(
        {"made as MSLR": "synthetic[shape=mslr,queries=500,documents=30,test_queries=3000]"},
        compared=40,
        epochs=20,
        rounds=60,
        leaves=15,
        iterations=40,
        C=(0.1, 10.0),
        restarts=1,
        samples=4,
        rankings=100,
        patience=(None, None),
        tuned_on={
            f"made as {name}": f"synthetic[shape={name.lower()},queries=300,documents=20,test_queries=2000]"
            for name in ("MSLR", "Yahoo", "OHSUMED")
        },
        tuned_trials=20,
    ),
    "real": Size(
        {"OHSUMED": "ohsumed", "MQ2008": "mq2008"},
        folds=(1, 2, 3, 4, 5),
        trials=1,
        leaves=8,
        tuned_on={"OHSUMED": "ohsumed", "MQ2008": "mq2008", "OHSUMED, LETOR 2.0": "ohsumed-letor2"},
        draws=8,
    ),
    "paper": Size(
        {"MSLR-WEB30K": "mslr-web30k", "Yahoo LTRC Set1": "yahoo-c14"},
        rounds=500,
        leaves=400,
        patience=(20, 50),
        tuned_on={"MSLR-WEB30K": "mslr-web30k", "Yahoo LTRC Set1": "yahoo-c14"},
        draws=20,
        tuned_trials=3,
    ),
}


BACKENDS = ("torch", "lightgbm", "xgboost", "lbfgs")
PLAIN, NOISY = "", "gumbel"
METRIC = "ndcg@5"
CUTOFFS = (1, 3, 5, 10)
METRICS = tuple(f"ndcg@{k}" for k in CUTOFFS)
GAIN_OF_RANKINGS = {"convex_loss": "ConvexLoss", "exp_gain": "ExpGain", "logrank_l3": "L3"}
"""Losses of LogRank that take a gain; the grid has them for NDCG, the paper for three."""
NOISE_OF_THEIR_OWN = frozenset({"softrank", "boltzrank", "pl_rank", "stochastic_rank", "neural_ndcg"})
"""Expectations over noisy rankings already, or dear ones: Gumbel noise on top of them is left out."""
STEPS_OF_A_DERIVATION = frozenset({"logrank_l2", "logrank_exponential"})
"""Objectives of which LogRank's paper says itself that they train badly; its study has them, the grid does not."""
ENGINE_OF_ITS_OWN = frozenset({"adarank"})
"""Losses whose algorithm follows values and has a backend of its own; their pushes of pairs are a stand-in."""
PLAIN_TRAINING = "schedule=constant,scaling=none"
"""Networks train at one learning rate on the features as the transforms leave them."""
PLAIN_TREES = "min_hessian=0.001,l2=0,feature_fraction=1"
"""Every tree sees all features, and leaves keep their values."""
SCALE_OF_NOISE = {"lightgbm": 0.25, "xgboost": 0.25, "torch": 1.0, "lbfgs": 1.0}
"""Scale of the noise on each backend, as in the paper: a quarter for trees, 1 for networks."""


class Cell(NamedTuple):
    """A loss with a backend and with noise or without, the part of a model that the grid crosses."""

    loss: str
    backend: str
    noise: str = PLAIN

    @property
    def model(self) -> str:
        """The model's name in figures.

        >>> Cell("umart", "xgboost").model, Cell("xe_ndcg", "lightgbm", "gumbel").model
        ('umart, xgboost', 'xe_ndcg x gumbel, lightgbm')
        """
        return f"{self.loss}{f' x {self.noise}' if self.noise else ''}, {self.backend}"

    @property
    def paper(self) -> str:
        """The paper that has this combination, or an empty string."""
        return PUBLISHED.get(self, "")


PUBLISHED = {
    ("cross_entropy", "torch", PLAIN): "stochastic",
    ("cross_entropy", "torch", NOISY): "stochastic",
    ("approx_ndcg", "torch", PLAIN): "stochastic",
    ("approx_ndcg", "torch", NOISY): "stochastic",
    ("lambdarank", "lightgbm", PLAIN): "stochastic",
    ("lambdarank", "lightgbm", NOISY): "stochastic",
    ("listnet", "lightgbm", PLAIN): "xendcg",
    ("xe_ndcg", "lightgbm", PLAIN): "xendcg",
    ("urank", "torch", PLAIN): "uniquerating",
    ("umart", "lightgbm", PLAIN): "uniquerating",
    ("lambdaloss", "torch", PLAIN): "uniquerating",
    ("p_listmle", "torch", PLAIN): "uniquerating",
    ("logrank_mle", "lbfgs", PLAIN): "logrank",
    ("convex_loss", "lbfgs", PLAIN): "logrank",
    ("exp_gain", "lbfgs", PLAIN): "logrank",
    ("logrank_l3", "lbfgs", PLAIN): "logrank",
    ("ranksvm", "lbfgs", PLAIN): "logrank",
}
"""Loss, backend and noise of the combinations in the grid that a paper has, its baselines included."""


def runs(profile: Profile, data: str | None) -> Iterable[Runs]:
    """Yield a group for each collection, named as it is, and one of the models that claims compare with each other;
    then a group of tuned models for each collection that has them.

    Args:
        profile: size of the runs.
        data: a data set in place of all of the profile's.
    """
    size, models = SIZES[profile], models_of(SIZES[profile])
    protocol = {"transforms": ["drop_empty", "query_minmax"], "metrics": list(METRICS), "selection": [METRIC]}
    for name, dataset in ({data: data} if data else size.collections).items():
        shared = {"dataset": dataset, **protocol}
        yield Runs(name, models, shared, size.folds, size.trials, kind=GRID, place=name)
        if size.compared:
            # Of losses that are not installed, the grid has none either.
            pairs = {model: models[model] for model in COMPARED if model in models}
            yield Runs(f"{PAIRS}, {name}", pairs, shared, size.folds, size.compared, kind=PAIRS, place=name)
    for name, dataset in ({data: data} if data and size.tuned_on else size.tuned_on).items():
        shared = {"dataset": dataset, **protocol}
        yield Runs(f"{TUNED}, {name}", tuned_models(size), shared, size.folds, size.tuned_trials, TUNED, name)


TUNED_MODELS = {
    "lambdaMART": Cell("lambdarank", "lightgbm"),
    "XE-NDCG": Cell("xe_ndcg", "lightgbm"),
    "uMart": Cell("umart", "lightgbm"),
    "E[lambdaMART]": Cell("lambdarank", "lightgbm", NOISY),
    "E[ApproxNDCG]": Cell("approx_ndcg", "torch", NOISY),
    "uRank": Cell("urank", "torch"),
    "CrossEntropy": Cell("cross_entropy", "torch"),
    "ConvexLoss": Cell("convex_loss", "lbfgs"),
}
"""Models of the four papers, on the engine that each paper has for them, which one protocol tunes."""
SEED_OF_DRAWS = 20_200


def tuned_models(size: Size) -> dict[str, dict[str, Any]]:
    """Return the parts of the tuned models: all of an engine choose from the same draws, all from equally many."""
    return {name: {**parts_of(cell, size), **drawn_engine(cell.backend, size)} for name, cell in TUNED_MODELS.items()}


def drawn_engine(backend: str, size: Size) -> dict[str, Any]:
    """Draw an engine's hyper-parameters, as many times as the profile says; validation data choose one draw.

    Trees draw learning rate, leaves and documents of a leaf; networks learning rate, batch and weight decay; linear
    models C. Rates are drawn on a logarithmic scale.
    """
    noise = generator(SEED_OF_DRAWS, "initialisation")
    epochs, trees = size.patience
    if backend == "lbfgs":
        values = ",".join(f"{value:.3g}" for value in 10 ** noise.uniform(-3, 3, size.draws))
        backend = f"lbfgs[C=({values}),iterations={size.iterations},restarts=0,scaling=none]"
        return {"backend": backend, "scorer": "linear"}
    if backend == "torch":
        backends = [
            f"torch[lr={10**rate:.3g},batch={2**batch},l2={10**decay:.3g},epochs={size.epochs},{PLAIN_TRAINING}]"
            for rate, batch, decay in zip(
                noise.uniform(-3.5, -1.5, size.draws),
                noise.integers(2, 6, size.draws),
                noise.uniform(-7, -3, size.draws),
                strict=True,
            )
        ]
        return {"backend": backends, "patience": epochs}
    scorers = [
        f"trees[leaves={leaves},learning_rate={10**rate:.3g},min_data={documents},rounds={size.rounds},{PLAIN_TREES}]"
        for leaves, rate, documents in zip(
            noise.integers(4, 4 * size.leaves, size.draws),
            noise.uniform(-2, -0.5, size.draws),
            noise.integers(5, 60, size.draws),
            strict=True,
        )
    ]
    return {"scorer": scorers, "patience": trees}


def models_of(size: Size) -> dict[str, dict[str, Any]]:
    """Return each model's parts beside its data: the grid, then the papers' own that are not in it."""
    published = {loss for loss, _, _ in PUBLISHED}
    grid = [cell for cell in cells() if cell.loss in published or not size.papers_only]
    return {cell.model: parts_of(cell, size) for cell in grid} | papers_own(size)


def cells() -> list[Cell]:
    """Return all cells of the grid."""
    return [
        Cell(loss, backend, noise)
        for loss in losses()
        for backend in BACKENDS
        for noise in (PLAIN, NOISY)
        if not (noise and loss in NOISE_OF_THEIR_OWN)
    ]


def losses() -> list[str]:
    """Return every installed loss, those of other packages included, but for steps of a derivation and stand-ins."""
    installed = [plugin.specification.name for plugin in registry().plugins("loss")]
    return [name for name in installed if name not in STEPS_OF_A_DERIVATION | ENGINE_OF_ITS_OWN]


COMPARED = (
    Cell("convex_loss", "lightgbm").model,
    Cell("convex_loss", "lbfgs").model,
    Cell("lambdarank", "lightgbm").model,
    Cell("xe_ndcg", "lightgbm", NOISY).model,
    Cell("xe_ndcg", "lightgbm").model,
    Cell("urank", "torch", NOISY).model,
    Cell("urank", "torch").model,
    Cell("umart", "xgboost").model,
    Cell("umart", "lightgbm").model,
)
"""Models that claims compare with each other, which need more trials than a grid of all can have."""
GRID, PAIRS, TUNED = "grid", "compared", "tuned"
"""Kinds of groups: all combinations on a collection, those models, and models tuned by one protocol."""


def whole_grids(results: Results) -> list[str]:
    """Return the groups that hold all combinations, one for each collection."""
    return results.groups(kind=GRID)


def most_repeated(results: Results) -> list[str]:
    """Return the groups by which two models are compared: those of more trials where there are such."""
    return results.groups(kind=PAIRS) or results.groups(kind=GRID)


def paper_of(model: str) -> str:
    """Return the paper that has a combination, or an empty string."""
    return OF_MODELS.get(model, "")


def parts_of(cell: Cell, size: Size) -> dict[str, Any]:
    """Return backend, scorer, loss and noise of a cell."""
    gain = f"[gain=ndcg,samples={size.rankings}]" if cell.loss in GAIN_OF_RANKINGS else ""
    sampler = f"gumbel[beta={SCALE_OF_NOISE[cell.backend]},samples={size.samples}]" if cell.noise else ""
    parts = engine(cell.backend, size, convex=cell.loss != "exp_gain")
    return {"loss": cell.loss + gain, "sampler": sampler, **parts}


def engine(backend: str, size: Size, convex: bool = True) -> dict[str, Any]:
    """Return a backend with the scorer that all losses share on it."""
    epochs, trees = size.patience
    if backend == "torch":
        network = "mlp[layers=(64,32),input_batch_norm=true]"
        backend = f"torch[lr=0.003,batch=8,epochs={size.epochs},l2=0,{PLAIN_TRAINING}]"
        return {"backend": backend, "scorer": network, "patience": epochs}
    if backend == "lbfgs":
        restarts = 0 if convex else size.restarts
        linear = f"lbfgs[{_choices(size)},iterations={size.iterations},restarts={restarts},scaling=none]"
        return {"backend": linear, "scorer": "linear"}
    settings = f"leaves={size.leaves},learning_rate=0.1,rounds={size.rounds},{PLAIN_TREES}"
    return {"backend": backend, "scorer": f"trees[{settings}]", "patience": trees}


OUTSIDE_THE_GRID = {
    "uBoost": "uniquerating",
    "urBoost": "uniquerating",
    "MDPRank": "uniquerating",
    "SVM-MAP": "logrank",
    "RankBoost": "logrank",
    **{f"{family}_{gain.upper()}": "logrank" for family in GAIN_OF_RANKINGS.values() for gain in ("auc", "map")},
}


OF_MODELS = {Cell(*cell).model: paper for cell, paper in PUBLISHED.items()} | OUTSIDE_THE_GRID
"""Model -> the paper that has it."""


def papers_own(size: Size) -> dict[str, dict[str, Any]]:
    """Return the papers' models whose scorer, engine or gain the grid does not have."""
    network = engine("torch", size)
    models = {
        "uBoost": {**network, "loss": "urank", "scorer": f"uboost[scorer={network['scorer']},learners=2]"},
        "urBoost": {
            **network,
            "loss": "urank",
            "scorer": f"urboost[scorer={network['scorer']},first=conditional_rnn[layers=(64,32)],learners=2]",
        },
        "MDPRank": {**network, "loss": "mdprank", "scorer": "linear"},
        "SVM-MAP": {
            "backend": f"cutting_planes[{_choices(size)},planes={size.iterations},scaling=none]",
            "loss": "svm_map",
        },
        "RankBoost": {"backend": "rankboost", "scorer": f"stumps[rounds={size.rounds}]", "loss": "rankboost"},
    }
    for loss, family in GAIN_OF_RANKINGS.items():
        for gain in ("auc", "map"):
            sampled = f",samples={size.rankings}" if gain != "auc" else ""
            models[f"{family}_{gain.upper()}"] = {
                **engine("lbfgs", size, convex=loss != "exp_gain"),
                "loss": f"{loss}[gain={gain}{sampled}]",
            }
    return models


def _choices(size: Size) -> str:
    return f"C=({','.join(map(str, size.C))})"
