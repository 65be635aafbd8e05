"""Cost of a trial at the profile ``paper`` on one core, estimated from the measured cost of its own iterations.

The protocol needs data and hours that a benchmark has not. So the same backend, scorer, loss and sampler train for a
few iterations on made data of the same shape in two sizes; a straight line through the two seconds an iteration,
metrics on validation data and, where the combination asks for them, on training data included, is drawn out to the
published number of documents, or to what the combination's transforms make of them; and that is multiplied by all
iterations the protocol allows. Early stopping is not counted, nor reading and binning, which are done once a trial:
this is a cautious estimate from above.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, cast

from rankplug_data.public.catalogue import BENCHMARKS

import rankplug as rp
from rankplug.registry import BackendSpecification, Reference, parse, registry
from rankplug.store import Combination, Trial, read_combination
from rankplug.studies import Study

SHAPES = {"mslr-web10k": "mslr", "mslr-web30k": "mslr", "yahoo-c14": "yahoo", "ohsumed": "ohsumed", "mq2007": "ohsumed"}
"""Made data that stand in for the papers'; for all others those like .Gov."""
SIZES = {"mslr": (100, 400), "yahoo": (500, 2000), "ohsumed": (40, 120), "gov": (40, 120)}
"""Numbers of queries of the two sizes."""
SIZES_FOR_TREES = {**SIZES, "mslr": (1000, 2000), "yahoo": (4000, 8000)}
"""The same where trees are grown: both have documents enough for all leaves that are asked for."""
COMPILING = 60
"""Queries of the fit that is not timed; with fewer documents than its leaves ask for LightGBM would find no feature."""
TRAINING_SHARE = 0.6
SHORT = {"rounds": 4, "epochs": 1, "iterations": 8, "planes": 8, "learners": 1, "restarts": 0, "C": 1.0}
"""Parameters of a short training in place of the protocol's."""
WITHOUT_EFFECT = ("lr", "learning_rate", "l2", "momentum", "eta", "mu", "sigma", "beta", "tau", "p_best", "skew")
"""Parameters that change a result and not its cost."""


@dataclass(frozen=True)
class Kind:
    """Trainings of equal cost an iteration and document."""

    shape: str
    backend: str
    scorer: str
    loss: str
    sampler: str
    train_curve: bool = True

    @property
    def network(self) -> bool:
        """True where a network is trained."""
        return parse(self.backend).name == "torch"

    def sizes(self, quick: bool = False) -> tuple[int, int]:
        """Return the numbers of queries on which it is measured."""
        trees = parse(self.backend).name in ("lightgbm", "xgboost")
        return (20, 40) if quick else (SIZES_FOR_TREES if trees else SIZES)[self.shape]


def kind_of(combination: Combination) -> Kind:
    """Return the short training that tells what an iteration of a combination costs."""
    parts = {part: _short(getattr(combination, part)) for part in ("backend", "scorer", "loss", "sampler")}
    return Kind(shape_of(combination), **parts, train_curve=combination.train_curve)


def shape_of(combination: Combination) -> str:
    """Return the shape of the made data that stand in for a combination's data set."""
    return SHAPES.get(parse(combination.dataset).name, "gov")


def _short(reference: str) -> str:
    if not reference:
        return ""
    plugin = parse(reference)
    kept = {name: SHORT.get(name, value) for name, value in plugin.parameters.items() if name not in WITHOUT_EFFECT}
    return str(Reference(plugin.name, kept, plugin.distribution))


def with_bfloat16(backend: str, there: bool) -> str:
    """Return the backend of a network with its matrix products in bfloat16, or not; another backend as it is.

    >>> with_bfloat16("torch[batch=8]", True), with_bfloat16("torch[autocast=true,batch=8]", False)
    ('torch[batch=8,autocast=true]', 'torch[batch=8]')
    """
    named = parse(backend)
    if named.name != "torch":
        return backend
    others = {name: value for name, value in named.parameters.items() if name != "autocast"}
    return str(Reference(named.name, others | ({"autocast": True} if there else {}), named.distribution))


@contextmanager
def pytorchs_own_steps() -> Iterator[None]:
    """Let PyTorch record the operations of plain networks and its optimiser step, which gives the same weights."""
    from rankplug_torch import plain_steps

    ours = plain_steps.plain_steps_of
    plain_steps.plain_steps_of = lambda network, settings: None
    try:
        yield
    finally:
        plain_steps.plain_steps_of = ours


def iterations_of(combination: Combination) -> int:
    """Count all iterations the protocol allows, those of every penalty, restart and added network included."""
    backend = registry().resolve("backend", combination.backend)
    name = combination.scorer or cast(BackendSpecification, backend[0]).default_scorer
    given: dict[str, Any] = {**dict(registry().resolve("scorer", name)[1]), **dict(backend[1])}
    penalties = given.get("C", 1.0)
    if "planes" in given:
        steps = given["planes"]
    elif "iterations" in given:
        convex = registry().resolve("loss", combination.loss)[0].describe()["convex"]
        restarts = given["restarts"] if given["restarts"] is not None else 0 if convex else 9
        steps = given["iterations"] * (1 + restarts)
    elif "epochs" in given:
        steps = given["epochs"] * given.get("learners", 1)
    else:
        steps = given["rounds"]
    return int(steps * (len(penalties) if isinstance(penalties, tuple) else 1))


def documents_of(combination: Combination) -> float:
    """Return the number of training documents, as published and as the transforms leave them."""
    name = parse(combination.dataset).name
    published = next(benchmark.published for benchmark in BENCHMARKS if benchmark.name == name)
    train = published.parts["train"][1] if "train" in published.parts else TRAINING_SHARE * published.documents
    return train * _growth(shape_of(combination), combination.transforms)


@cache
def _growth(shape: str, transforms: tuple[str, ...]) -> float:
    """Return the ratio of the number of training documents after some transforms to that before."""
    dataset = f"synthetic[shape={shape},queries={SIZES[shape][1]},sample=0]"
    before = rp.load(dataset).train.documents
    return rp.load(dataset, transforms=transforms).train.documents / before if transforms else 1.0


@dataclass(frozen=True)
class UnitCost:
    """Seconds an iteration takes on one core: some in any case, and some for each training document."""

    fixed: float
    per_document: float

    def of(self, documents: float) -> float:
        """Return the seconds of one iteration."""
        return self.fixed + self.per_document * documents


def unit_cost(kind: Kind, sizes: tuple[int, int]) -> UnitCost:
    """Measure with the current number of threads; a fit of a few lists before it compiles what there is to compile."""
    _, (few, short), (many, long) = (_iteration(kind, queries) for queries in (min(COMPILING, *sizes), *sizes))
    slope = max((long - short) / (many - few), 0.0)
    return UnitCost(max(long - slope * many, 0.0), slope)


def _iteration(kind: Kind, queries: int) -> tuple[int, float]:
    split = rp.load(f"synthetic[shape={kind.shape},queries={queries},sample=0]")
    model = rp.fit(
        kind.backend,
        scorer=kind.scorer or None,
        loss=kind.loss,
        sampler=kind.sampler or None,
        train=split.train,
        valid=split.valid,
        train_curve=kind.train_curve,
        progress=False,
    )
    seconds = model.record.seconds["training"] + model.record.seconds["watching"]
    return split.train.documents, seconds / max(model.record.iterations, 1)


Saving = Literal["curves", "choosing", "bfloat16"]
SAVINGS: tuple[Saving, ...] = ("curves", "choosing", "bfloat16")
"""Savings of the profile ``paper``: curves on training data that nothing shows, trials of learning rates that the
first ones did not choose, and half of the bits in the matrix products of networks."""


def trials_of(study: Study, savings: Collection[Saving] = SAVINGS) -> Iterator[Trial]:
    """Yield the trials of a study at the profile ``paper``, in the order of its plan, shared ones once.

    Args:
        study: whose trials.
        savings: those of the profile that count. Where the first trials choose among combinations, the others are of
            one of these, which stands for the chosen one.
    """
    seen = set()
    for runs in study.runs("paper", None):
        for model in runs.models:
            trials = runs.trials_of(model)
            for trial in trials:
                further = runs.choosing and trial.number >= runs.choosing
                if "choosing" in savings and further and trial.combination != trials[0].combination:
                    continue
                asked = Trial(_with_savings(trial.combination, savings), trial.fold, trial.number)
                if asked.identity not in seen:
                    seen.add(asked.identity)
                    yield asked


def _with_savings(combination: Combination, savings: Collection[Saving]) -> Combination:
    parts = combination.model_dump()
    if "curves" not in savings:
        parts["train_curve"] = True
    if "bfloat16" not in savings:
        parts["backend"] = with_bfloat16(combination.backend, there=False)
    return read_combination(parts)
