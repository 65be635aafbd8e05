"""Training protocol of the paper (Section 5) at five sizes.

All models are linear and tune ``C`` on each fold's validation part, the two whose numbers the paper quotes from others
included. RankBoost has weak rankers instead and tunes their number. Labels of 1 and more are relevant, and the cleaning
is the paper's: documents go that equal one of another label in their query, and queries without a relevant document.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from rankplug.plotting import PALETTE
from rankplug.studies import Profile, Runs

GAINS = {"AUC": "auc", "MAP": "map", "NDCG": "ndcg"}
QUOTED = ("BoltzRank", "ListNet")
"""Rows that the paper has from others, for two of its data sets; here they are trained as all others are."""
BASELINES = ("SVM-MAP", "RankBoost", "RankSVM")
"""Those that the paper trained, in all of its columns."""
FAMILIES = {"ExpGain": "exp_gain", "L3": "logrank_l3", "Convex": "convex_loss"}


@dataclass(frozen=True)
class PaperModel:
    """A model of the paper.

    Args:
        name: in the paper.
        loss: its name.
        family: models of which the best counts in a cell of Figure 3.
        gain: what the losses of a family measure rankings by.
    """

    name: str
    loss: str
    family: str = "baselines"
    gain: str = ""


BY_NAME = {
    model.name: model
    for model in (
        PaperModel("BoltzRank", "boltzrank"),
        PaperModel("ListNet", "listnet"),
        PaperModel("SVM-MAP", "svm_map"),
        PaperModel("RankBoost", "rankboost"),
        PaperModel("RankSVM", "ranksvm"),
        PaperModel("MLE", "logrank_mle", "MLE"),
        *(
            PaperModel(f"{family}_{gain}", loss, family, parameter)
            for family, loss in FAMILIES.items()
            for gain, parameter in GAINS.items()
        ),
    )
}
MODELS = tuple(BY_NAME)
MEASURES = {
    "MAP": "map",
    "NDCG@1": "ndcg@1[discount=jk]",
    "NDCG@5": "ndcg@5[discount=jk]",
    "NDCG@10": "ndcg@10[discount=jk]",
}
CLEANING = ("binarise", "drop_conflicting", "drop_empty")
DIAGNOSED = "Convex_NDCG"
"""The model whose sampler is studied in Figures 4 to 6."""
BEFORE_THE_GAIN = {"L2": "logrank_l2", "LogExp": "logrank_exponential"}
"""Equations 4, which is L2 of Equation 11, and 5 with f = e^x; the text trains neither, and ExpGain in their place."""
RESTART_MIXES = {"mostly best": 0.9, "even": 0.5, "mostly worst": 0.1}
SKEWS = (-10.0, -5.0, -2.0, 0.0, 2.0, 5.0, 10.0)
PAPER_C = (0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0, 10000.0)


@dataclass(frozen=True)
class Collection:
    """A data set and the column of Figure 3 it stands for.

    Args:
        column: its heading.
        dataset: its name with parameters.
        minmax: whether features are scaled within each query; LETOR's .Gov data come scaled.
    """

    column: str
    dataset: str
    minmax: bool = True

    def parts(self, size: Size) -> dict[str, Any]:
        """Return the parts that all runs on the collection share."""
        transforms = [*CLEANING, "query_minmax"] if self.minmax else [*CLEANING]
        measured = {"metrics": list(MEASURES.values()), "selection": ["map"], "train_curve": size.train_curves}
        return {"dataset": self.dataset, "transforms": transforms, **measured}


@dataclass(frozen=True)
class Size:
    """Sizes of a profile.

    Args:
        collections: the columns of Figure 3.
        diagnosed: which of them Figures 4 to 8 look at.
        folds: of the data sets.
        trials: repetitions of Figures 4 to 6.
        repeats: repetitions of Figure 3; folds of a collection need none.
        samples: rankings drawn for each query.
        sample_sizes: on the axis of Figure 4.
        skews: on the axis of Figure 6.
        C: values to choose from.
        iterations: of L-BFGS for each value.
        restarts: of ExpGain beside the start at 0.
        planes: of SVM-MAP for each value.
        rounds: of RankBoost.
        objective_trials: repetitions where Equations 4 and 5 are trained, and ExpGain with more and fewer restarts.
        objective_gains: their gains.
        train_curves: whether learning curves have training data, which no exhibit shows.
    """

    collections: tuple[Collection, ...]
    diagnosed: int = 0
    folds: tuple[int, ...] = (1, 2, 3, 4, 5)
    trials: int = 30
    repeats: int = 1
    samples: int = 200
    sample_sizes: tuple[int, ...] = (10, 25, 50, 100, 200, 400)
    skews: tuple[float, ...] = SKEWS
    C: tuple[float, ...] = PAPER_C
    iterations: int = 100
    restarts: int = 9
    planes: int = 100
    rounds: int = 300
    objective_trials: int = 1
    objective_gains: tuple[str, ...] = ("MAP", "NDCG")
    train_curves: bool = True


GOV = ("TD2003", "TD2004", "HP2003", "HP2004", "NP2003", "NP2004")
COLOURS = {
    "ListNet": PALETTE[7],
    "MLE": PALETTE[0],
    "ExpGain_AUC": PALETTE[1],
    "L3_AUC": PALETTE[2],
    "Convex_AUC": PALETTE[3],
    "Convex_NDCG": PALETTE[3],
}
"""Colours of the models in all of the paper's figures."""
SIZES: Mapping[Profile, Size] = {
    "smoke": Size(
        (
            Collection("made as .Gov", "synthetic[shape=gov,queries=60,documents=40]"),
            Collection("made as OHSUMED", "synthetic[shape=ohsumed,queries=30,documents=15]"),
        ),
        folds=(1,),
        trials=2,
        repeats=2,
        samples=20,
        sample_sizes=(5, 20),
        skews=(-5.0, 5.0),
        C=(0.1, 10.0),
        iterations=6,
        restarts=1,
        planes=6,
        rounds=10,
        objective_trials=2,
        objective_gains=("NDCG",),
    ),
    # Five minutes for all studies: the sampler has detail claims alone, which the profile full has the trials for.
    "quick": Size(
        (
            Collection("made as .Gov", "synthetic[shape=gov,queries=600,documents=60,test_queries=2000]"),
            Collection("made as OHSUMED", "synthetic[shape=ohsumed,queries=250,documents=20,test_queries=2000]"),
        ),
        folds=(1,),
        trials=8,
        repeats=8,
        samples=100,
        sample_sizes=(10, 25, 50, 100, 200),
        skews=(-10.0, -3.0, 0.0, 3.0, 10.0),
        C=(0.1, 1.0, 10.0),
        iterations=25,
        restarts=1,
        planes=15,
        rounds=40,
        objective_trials=3,
        objective_gains=("NDCG",),
        train_curves=False,
    ),
    "full": Size(
        (
            Collection("made as .Gov", "synthetic[shape=gov,queries=800,documents=100,test_queries=2000]"),
            Collection("made as OHSUMED", "synthetic[shape=ohsumed,queries=300,documents=60,test_queries=2000]"),
        ),
        folds=(1,),
        trials=30,
        repeats=15,
        C=(0.1, 1.0, 10.0),
        iterations=60,
        restarts=2,
        planes=60,
        rounds=100,
        objective_trials=40,
        objective_gains=("NDCG",),
    ),
    "real": Size((Collection("OHSUMED", "ohsumed"), Collection("MQ2008", "mq2008"))),
    "paper": Size(
        (*(Collection(name, name.lower(), minmax=False) for name in GOV), Collection("OHSUMED", "ohsumed")),
        diagnosed=GOV.index("HP2004"),
        planes=300,
    ),
}


def runs(profile: Profile, data: str | None) -> Iterable[Runs]:
    """Yield the groups ``accuracy ...``, one for each column of Figure 3, ``objectives``, for what Section 2 says of
    Equations 4 to 6, and ``sampler``, for Figures 4 to 6.

    Args:
        profile: how large.
        data: a data set in place of all of the profile's.
    """
    size = SIZES[profile]
    if data is not None:
        size = replace(size, collections=(Collection(data, data),), diagnosed=0)
    for collection in size.collections:
        models = {model: parts_of(model, size) for model in MODELS}
        name, place = f"accuracy {collection.column}", collection.column
        yield Runs(name, models, collection.parts(size), size.folds, size.repeats, kind="accuracy", place=place)
    parts = size.collections[size.diagnosed].parts(size)
    restarts = restart_settings(size)
    models = objectives(size) | {
        name: with_restarts(size, int(restart["restarts"])) for name, restart in restarts.items()
    }
    yield Runs("objectives", models, parts, size.folds, size.objective_trials, kind="objectives", settings=restarts)
    settings = sampler_settings(size)
    models = {
        name: parts_of(DIAGNOSED, size, {"samples": size.samples, **setting}) for name, setting in settings.items()
    }
    yield Runs("sampler", models, parts, size.folds, size.trials, kind="sampler", settings=settings)


def sampler_settings(size: Size) -> dict[str, dict[str, float]]:
    """Name the points in Figures 4 to 6, with what varies along the axis of each."""
    settings: dict[str, dict[str, float]] = {f"samples {count}": {"samples": count} for count in size.sample_sizes}
    settings |= {mix: {"p_best": share} for mix, share in RESTART_MIXES.items()}
    settings |= {f"skew {skew:g}": {"skew": skew} for skew in size.skews}
    return settings


def objectives(size: Size) -> dict[str, dict[str, Any]]:
    """Return the parts of the models that are trained on Equations 4 and 5, with the restarts of ExpGain."""
    return {
        f"{name}_{gain}": {
            "backend": lbfgs(size, size.restarts),
            "loss": f"{loss}[gain={GAINS[gain]},samples={size.samples}]",
        }
        for name, loss in BEFORE_THE_GAIN.items()
        for gain in size.objective_gains
    } | {f"ExpGain_{gain}": parts_of(f"ExpGain_{gain}", size) for gain in size.objective_gains}


def restart_settings(size: Size) -> dict[str, dict[str, float]]:
    """Name ExpGain with no restarts and with three times as many as it has in Figure 3."""
    return {f"ExpGain_NDCG, {restarts} restarts": {"restarts": restarts} for restarts in (0, 3 * size.restarts)}


def with_restarts(size: Size, restarts: int) -> dict[str, Any]:
    """Return the parts of ExpGain_NDCG with a number of restarts."""
    return {**parts_of("ExpGain_NDCG", size), "backend": lbfgs(size, restarts)}


def lbfgs(size: Size, restarts: int) -> str:
    """Return the backend of linear models."""
    choices = f"C=({','.join(map(str, size.C))})"
    return f"lbfgs[{choices},iterations={size.iterations},restarts={restarts},scaling=none]"


def parts_of(name: str, size: Size, drawing: Mapping[str, float] | None = None) -> dict[str, Any]:
    """Return backend, scorer and loss of a model.

    Args:
        name: of the model in the paper.
        size: of the profile.
        drawing: parameters of the loss that say how rankings are drawn.
    """
    model = BY_NAME[name]
    if model.loss == "rankboost":
        return {"backend": "rankboost", "scorer": f"stumps[rounds={size.rounds}]", "loss": model.loss}
    if model.loss == "svm_map":
        choices = f"C=({','.join(map(str, size.C))})"
        return {"backend": f"cutting_planes[{choices},planes={size.planes},scaling=none]", "loss": model.loss}
    backend = lbfgs(size, size.restarts if model.family == "ExpGain" else 0)
    if not model.gain:
        return {"backend": backend, "loss": model.loss}
    # The closed forms of AUC need no rankings.
    drawn = {} if model.gain == "auc" else (drawing or {"samples": size.samples})
    given = ",".join(f"{parameter}={value}" for parameter, value in {"gain": model.gain, **drawn}.items())
    return {"backend": backend, "loss": f"{model.loss}[{given}]"}
