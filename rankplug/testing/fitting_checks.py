"""Contract of backends and scorers: they learn, repeat, predict each list alone, and survive a round trip to a file.

A backend is tried with its usual scorer, a scorer with each installed backend that fits it, on small synthetic data.
"""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from rankplug.data import Lists
from rankplug.errors import BrokenPluginError, FitError, UnknownPluginError
from rankplug.losses import loss
from rankplug.metrics import metric
from rankplug.registry import LossSpecification, is_usable, registry
from rankplug.testing import _checks
from rankplug.testing._checks import (
    Check,
    Contract,
    PluginContract,
    moves_global_random_state,
    other_global_random_numbers,
)
from rankplug.training import Model, fit, load_model

QUALITY = "ndcg@5"
LISTS, DOCUMENTS, FEATURES = 60, 8, 4


class Fitter(NamedTuple):
    """A backend and a scorer that are tried together."""

    backend: str
    scorer: str

    def __str__(self) -> str:
        return f"{self.scorer} on {self.backend}" if self.scorer else self.backend


@dataclass(frozen=True)
class Case(_checks.Case):
    """A backend or a scorer under test; fitted to the first loss that is smooth, convex and accepted."""

    models: dict[Fitter, Model] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def fitters(self) -> list[Fitter]:
        try:
            return [Fitter(self.name, registry().specification("backend", self.name).default_scorer)]
        except UnknownPluginError:
            scorer = registry().specification("scorer", self.name)
        installed = [backend for backend in sorted(scorer.fitted_by) if is_usable(backend, registry())]
        if not installed:
            backends = ", ".join(sorted(scorer.fitted_by)) or "no backend"
            raise BrokenPluginError(f"{scorer} is fitted by {backends}, none of which is installed")
        return [Fitter(backend, self.name) for backend in installed]

    def data(self, part: int = 0) -> Lists:
        """Return lists whose labels follow a weighted sum of the features."""
        generator = np.random.default_rng([self.seed, part])
        features = generator.normal(size=(LISTS * DOCUMENTS, FEATURES)).astype(np.float32)
        relevance = features @ np.array([2.0, -1.0, 0.5, 0.0]) + 0.3 * generator.normal(size=len(features))
        labels = np.digitize(relevance, [0.0, 1.0, 2.5]).astype(np.float32)
        return Lists(features, labels, np.arange(LISTS + 1) * DOCUMENTS)

    def model(self, fitter: Fitter) -> Model:
        """Return the model that is fitted without options."""
        if fitter not in self.models:
            self.models[fitter] = self.fit(fitter)
        return self.models[fitter]

    def fit(self, fitter: Fitter, **options: Any) -> Model:
        """Fit a backend and a scorer to the first loss that they take."""
        options = {"train": self.data(), "seed": 5, "selection": QUALITY, "progress": False, **options}
        refusal: FitError | None = None
        for name in _losses():
            try:
                return fit(fitter.backend, scorer=fitter.scorer or None, loss=name, **options)
            except FitError as error:
                refusal = refusal or error
        raise refusal or UnknownPluginError("no loss is installed to fit it to")


def _losses() -> list[str]:
    """Return losses to fit to: convex ones with exact derivatives first, then those that single backends ask for."""

    def roughness(loss: LossSpecification) -> tuple[bool, bool, str]:
        is_smooth = loss.convex and loss.gradient == "exact" and not loss.needs and loss.longest is None
        return not is_smooth, loss.curvature != "exact" or not loss.shift_invariant, loss.name

    return [loss.name for loss in sorted(registry().specifications(LossSpecification), key=roughness)]


CONTRACT = Contract(Case)


class BackendContract(PluginContract):
    """The contract of a backend, tried with its usual scorer."""

    contract, kind = CONTRACT, "backend"
    backend: ClassVar[str]


class ScorerContract(PluginContract):
    """The contract of a scorer, tried with each installed backend that fits it."""

    contract, kind = CONTRACT, "scorer"
    scorer: ClassVar[str]


def _check(*, means: str, fix: str) -> Callable[[Callable[[Case, Fitter], str | None]], Check]:
    """Make a check of a claim about each backend with its scorer; a decorator."""

    def decorate(claim: Callable[[Case, Fitter], str | None]) -> Check:
        @functools.wraps(claim)
        def on_each_fitter(case: Case) -> str | None:
            complaints = ((fitter, claim(case, fitter)) for fitter in case.fitters)
            return next((f"{fitter}: {complaint}" for fitter, complaint in complaints if complaint), None)

        return CONTRACT.check(means=means, fix=fix)(on_each_fitter)

    return decorate


@_check(
    means="training changes nothing, or for the worse",
    fix="step against the gradient; it is per document, summed over lists",
)
def it_learns(case: Case, fitter: Fitter) -> str | None:
    """Check that the loss of the training data falls below that of equal scores, or of a network's first weights."""
    train, model = case.data(), case.model(fitter)
    objective = loss(model.record.combination["loss"]).on(train.labels, train.starts)
    first = case.fit(fitter, callbacks=[lambda iteration, metrics: True])
    candidates = (np.zeros(train.documents), first.predict(train), model.predict(train))
    equal, begun, learnt = (objective(scores).value.mean() for scores in candidates)
    if learnt < equal or learnt < begun:
        return None
    return (
        f"the loss is {learnt:.4g} after training, {begun:.4g} after the first iteration and {equal:.4g} with equal"
        " scores"
    )


@_check(means="metrics cannot be computed", fix="return one finite number a row, the higher the better")
def predictions_are_one_finite_number_a_document(case: Case, fitter: Fitter) -> str | None:
    """Check predictions on unseen data, also where features lie far outside the training data."""
    lists = case.data(1)
    for test in (lists, replace(lists, features=lists.features * np.float32(100.0))):
        scores = case.model(fitter).predict(test)
        if scores.shape != (test.documents,) or not np.isfinite(scores).all():
            return f"{test.documents} documents, scores of shape {scores.shape}, not all finite"
    return None


@_check(means="runs cannot be repeated", fix="take every random number from rankplug.system.seeds with problem.seed")
def a_seed_gives_the_same_model_again(case: Case, fitter: Fitter) -> str | None:
    """Compare bit for bit, with other global random numbers."""
    test, model = case.data(1), case.model(fitter)
    with other_global_random_numbers():
        again = case.fit(fitter)
    same = np.array_equal(model.predict(test), again.predict(test))
    return None if same else "fitted again with the same seed, it predicts other scores"


@_check(
    means="other plugins draw other numbers after it has trained",
    fix="use generators of your own, or put the global state back",
)
def global_random_numbers_are_left_alone(case: Case, fitter: Fitter) -> str | None:
    """Check the generators of Python, NumPy and PyTorch."""
    case.model(fitter)
    moved = moves_global_random_state(lambda: case.fit(fitter))
    return "training moves the global random state" if moved else None


@_check(
    means="a saved model is another one than was measured",
    fix="write everything that prediction needs in encode, and read it back in load",
)
def a_model_comes_back_from_its_file(case: Case, fitter: Fitter) -> str | None:
    """Check that ``save`` and ``load_model`` change no score."""
    test, model = case.data(1), case.model(fitter)
    with tempfile.TemporaryDirectory() as folder:
        loaded = load_model(model.save(Path(folder) / f"model{model.suffix}"))
    gap = np.abs(loaded.predict(test) - model.predict(test)).max()
    return f"scores differ by {gap:g} after a round trip through a file" if gap > 1e-6 else None


@_check(
    means="a query's ranking depends on which others are scored with it",
    fix="normalise within a list or with what was seen in training, never over a batch",
)
def lists_do_not_see_each_other(case: Case, fitter: Fitter) -> str | None:
    """Check that each list alone gets the scores that it gets among others."""
    test, model = case.data(1), case.model(fitter)
    together = model.predict(test)
    for query in range(5):
        part = slice(test.starts[query], test.starts[query + 1])
        if not np.allclose(model.predict(test[query]), together[part], rtol=1e-4, atol=1e-5):
            return f"list {query} alone gets other scores than among others"
    return None


@_check(means="real data stop it", fix="guard divisions by counts and by deviations")
def awkward_data_are_learnt_from(case: Case, fitter: Fitter) -> str | None:
    """Fit data with a constant feature, lists of one document, and lists of equal labels."""
    plain = case.data()
    plain.features[:, 3] = 1.0
    single = Lists(plain.features[:2], plain.labels[:2], np.array([0, 1, 2]), np.array([1000, 1001]))
    silent = Lists(plain.features[:5], np.zeros(5, np.float32), np.array([0, 5]), np.array([1002]))
    model = case.fit(fitter, train=Lists.concatenate([plain, single, silent]))
    return None if np.isfinite(model.predict(plain)).all() else "the scores are not finite"


@_check(means="training cannot be watched or stopped", fix="run the learner with rankplug.training.train")
def callbacks_see_every_iteration_and_can_stop(case: Case, fitter: Fitter) -> str | None:
    """Check that there is one call an iteration, and an end when one of them answers True."""
    seen: list[int] = []

    def stop(iteration: int, metrics: Mapping[str, float]) -> bool:
        seen.append(iteration)
        return len(seen) == 2

    # Some backends end by themselves, such as AdaRank once no feature improves.
    expected = list(range(min(2, case.model(fitter).record.iterations)))
    model = case.fit(fitter, callbacks=[stop])
    if seen == expected and model.record.iterations == len(expected):
        return None
    return f"told to stop at the second iteration, it called {len(seen)} times, {seen[:5]}"


@_check(
    means="the model that is measured is not the one that validation chose",
    fix="give back in model(snapshot) exactly what snapshot() saw",
)
def the_best_iteration_on_validation_data_is_kept(case: Case, fitter: Fitter) -> str | None:
    """Check that the model's own validation metric is the highest of its learning curve."""
    valid = case.data(2)
    model = case.fit(fitter, valid=valid)
    recorded = model.curve.columns[f"valid {QUALITY}"][model.best_iteration]
    own = metric(QUALITY).mean(model.predict(valid), valid.labels, valid.starts)
    if abs(own - recorded) <= 1e-6:
        return None
    return f"the curve says {recorded:.6f} where it is best, the model has {own:.6f}"


@_check(means="data that are used again are others", fix="copy features before scaling them")
def data_are_left_as_they_are(case: Case, fitter: Fitter) -> str | None:
    """Check features and labels of the training part."""
    train = case.data()
    case.fit(fitter, train=train)
    return None if train.fingerprint == case.data().fingerprint else "training writes into the data"
