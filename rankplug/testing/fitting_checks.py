"""Contract of backends and scorers: they learn, repeat, predict each list alone, and survive a round trip to a file.

A backend is tried with its usual scorer, a scorer with each installed backend that fits it, on small made data.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankplug.data import Lists
from rankplug.errors import BrokenPluginError, FitError, UnknownPluginError
from rankplug.losses import loss
from rankplug.metrics import metric
from rankplug.registry import (
    LossSpecification,
    Reference,
    is_usable,
    parse,
    registry,
)
from rankplug.testing._checks import Contract, global_random_state, other_global_random_numbers
from rankplug.training import Model, fit, load_model

QUALITY = "ndcg@5"
LISTS, DOCUMENTS, FEATURES = 60, 8, 4


@dataclass(frozen=True)
class Case:
    """A backend or a scorer under test.

    Args:
        name: with its parameters.
        loss: it is fitted to; the first installed one that is smooth, convex and accepted when empty.
        seed: of the data.
    """

    name: str
    loss: str = ""
    seed: int = 20
    models: dict[str, Model] = field(default_factory=dict, repr=False, compare=False)

    def __str__(self) -> str:
        return self.name

    @cached_property
    def fitters(self) -> list[tuple[str, str]]:
        """Backends and scorers that are tried together."""
        try:
            engine = registry().specification("backend", self.name)
            return [(self.name, engine.default_scorer)]
        except UnknownPluginError:
            space = registry().specification("scorer", self.name)
        able = [backend for backend in sorted(space.fitted_by) if is_usable(backend, registry())]
        if not able:
            raise BrokenPluginError(
                f"{space} is fitted by {', '.join(sorted(space.fitted_by)) or 'no backend'}, none of which is installed"
            )
        return [(backend, self.name) for backend in able]

    def data(self, part: int = 0) -> Lists:
        """Return lists whose labels follow a weighted sum of the features."""
        generator = np.random.default_rng([self.seed, part])
        features = generator.normal(size=(LISTS * DOCUMENTS, FEATURES)).astype(np.float32)
        wanted = features @ np.array([2.0, -1.0, 0.5, 0.0]) + 0.3 * generator.normal(size=len(features))
        labels = np.digitize(wanted, [0.0, 1.0, 2.5]).astype(np.float32)
        return Lists(features, labels, np.arange(LISTS + 1) * DOCUMENTS)

    def fit(self, fitter: tuple[str, str], **options: Any) -> Model:
        """Fit a backend and a scorer; the model without options is fitted once."""
        backend, scorer = fitter
        if not options and str(fitter) in self.models:
            return self.models[str(fitter)]
        given = {"train": self.data(), "seed": 5, "selection": QUALITY, "progress": False, **options}
        error: FitError | None = None
        for name in [self.loss] if self.loss else _smooth_losses():
            try:
                model = fit(backend, scorer=scorer or None, loss=name, **given)
            except FitError as refused:
                error = error or refused
                continue
            if not options:
                self.models[str(fitter)] = model
            return model
        raise error or UnknownPluginError("no smooth loss is installed to fit it to; name one with --loss")


CONTRACT = Contract("backend", Case)


@CONTRACT.check(
    means="training changes nothing, or for the worse",
    fix="step against the gradient; it is per document, summed over lists",
)
def it_learns(case: Case) -> str | None:
    """Check that the loss of the training data falls below that of equal scores, or of a network's first weights."""
    train = case.data()
    for fitter, model in _models(case):
        objective = loss(model.record.combination["loss"]).on(train.labels, train.starts)
        first = case.fit(fitter, callbacks=[lambda iteration, metrics: True])
        candidates = (np.zeros(train.documents), first.predict(train), model.predict(train))
        silent, begun, learnt = (objective(scores).value.mean() for scores in candidates)
        if not (learnt < silent or learnt < begun):
            return (
                f"{_words(fitter)}: the loss is {learnt:.4g} after training, {begun:.4g} after the first iteration and"
                f" {silent:.4g} with equal scores"
            )
    return None


@CONTRACT.check(means="metrics cannot be computed", fix="return one finite number a row, the higher the better")
def predictions_are_one_finite_number_a_document(case: Case) -> str | None:
    """Check predictions on unseen data, also where features lie far outside the training data."""
    for fitter, model in _models(case):
        for lists in (case.data(1), _scaled(case.data(1), 100.0)):
            scores = model.predict(lists)
            if scores.shape != (lists.documents,) or not np.isfinite(scores).all():
                return f"{_words(fitter)}: {lists.documents} documents, scores of shape {scores.shape}, not all finite"
    return None


@CONTRACT.check(
    means="runs cannot be repeated", fix="take every random number from rankplug.system.seeds with problem.seed"
)
def a_seed_gives_the_same_model_again(case: Case) -> str | None:
    """Compare bit for bit, with other global random numbers."""
    test = case.data(1)
    for fitter, model in _models(case):
        with other_global_random_numbers():
            again = case.fit(fitter, patience=None)
        if not np.array_equal(model.predict(test), again.predict(test)):
            return f"{_words(fitter)}: fitted again with the same seed, it predicts other scores"
    return None


@CONTRACT.check(
    means="other plugins draw other numbers after it has trained",
    fix="use generators of your own, or put the global state back",
)
def global_random_numbers_are_left_alone(case: Case) -> str | None:
    """Check the generators of Python, NumPy and PyTorch."""
    for fitter, _ in _models(case):
        before = global_random_state()
        case.fit(fitter, patience=None)
        if before != global_random_state():
            return f"{_words(fitter)}: training moves the global random state"
    return None


@CONTRACT.check(
    means="a saved model is another one than was measured",
    fix="write everything that prediction needs in encode, and read it back in load",
)
def a_model_comes_back_from_its_file(case: Case) -> str | None:
    """Check that ``save`` and ``load_model`` change no score."""
    test = case.data(1)
    for fitter, model in _models(case):
        with tempfile.TemporaryDirectory() as folder:
            back = load_model(model.save(Path(folder) / f"model{model.suffix}"))
        gap = np.abs(back.predict(test) - model.predict(test)).max()
        if gap > 1e-6:
            return f"{_words(fitter)}: scores differ by {gap:g} after a round trip through a file"
    return None


@CONTRACT.check(
    means="a query's ranking depends on which others are scored with it",
    fix="normalise within a list or with what was seen in training, never over a batch",
)
def lists_do_not_see_each_other(case: Case) -> str | None:
    """Check that each list alone gets the scores that it gets among others."""
    test = case.data(1)
    for fitter, model in _models(case):
        together = model.predict(test)
        for query in range(5):
            part = slice(test.starts[query], test.starts[query + 1])
            if not np.allclose(model.predict(test[query]), together[part], rtol=1e-4, atol=1e-5):
                return f"{_words(fitter)}: list {query} alone gets other scores than among others"
    return None


@CONTRACT.check(means="real data stop it", fix="guard divisions by counts and by deviations")
def awkward_data_are_learnt_from(case: Case) -> str | None:
    """Fit data with a constant feature, lists of one document, and lists of equal labels."""
    plain = case.data()
    plain.features[:, 3] = 1.0
    single = Lists(plain.features[:2], plain.labels[:2], np.array([0, 1, 2]), np.array([1000, 1001]))
    silent = Lists(plain.features[:5], np.zeros(5, np.float32), np.array([0, 5]), np.array([1002]))
    for fitter in case.fitters:
        model = case.fit(fitter, train=Lists.concatenate([plain, single, silent]))
        if not np.isfinite(model.predict(plain)).all():
            return f"{_words(fitter)}: the scores are not finite"
    return None


@CONTRACT.check(
    means="training cannot be watched or stopped",
    fix="run the learner with rankplug.training.train",
)
def callbacks_see_every_iteration_and_can_stop(case: Case) -> str | None:
    """Check that there is one call an iteration, and an end when one of them answers True."""
    for fitter in case.fitters:
        seen: list[int] = []

        def stop(iteration: int, metrics: Mapping[str, float], seen: list[int] = seen) -> bool:
            seen.append(iteration)
            return len(seen) == 2

        model = case.fit(fitter, callbacks=[stop])
        if seen[:2] != [0, 1] or len(seen) > 2 or model.record.iterations != 2:
            return f"{_words(fitter)}: told to stop at the second iteration, it called {len(seen)} times, {seen[:5]}"
    return None


@CONTRACT.check(
    means="the model that is measured is not the one that validation chose",
    fix="give back in model(snapshot) exactly what snapshot() saw",
)
def the_best_iteration_on_validation_data_is_kept(case: Case) -> str | None:
    """Check that the model's own validation metric is the highest of its learning curve."""
    valid = case.data(2)
    for fitter in case.fitters:
        model = case.fit(fitter, valid=valid)
        curve = np.asarray(model.curve.columns[f"valid {QUALITY}"])
        own = metric(QUALITY).mean(model.predict(valid), valid.labels, valid.starts)
        recorded = curve[model.best_iteration]
        if abs(own - recorded) > 1e-6:
            return f"{_words(fitter)}: the curve says {recorded:.6f} where it is best, the model has {own:.6f}"
    return None


@CONTRACT.check(means="data that are used again are others", fix="copy features before scaling them")
def data_are_left_as_they_are(case: Case) -> str | None:
    """Check features and labels of the training part."""
    for fitter in case.fitters:
        train = case.data()
        case.fit(fitter, train=train)
        if train.fingerprint != case.data().fingerprint:
            return f"{_words(fitter)}: training writes into the data"
    return None


CHECKS = tuple(CONTRACT.checks)


def _models(case: Case) -> Iterator[tuple[tuple[str, str], Model]]:
    return ((fitter, case.fit(fitter)) for fitter in case.fitters)


def _words(fitter: tuple[str, str]) -> str:
    backend, scorer = fitter
    return f"{scorer} on {backend}" if scorer else backend


def _scaled(lists: Lists, factor: float) -> Lists:
    features: NDArray[np.float32] = lists.features * np.float32(factor)
    return Lists(features, lists.labels, lists.starts)


def _smooth_losses() -> list[str]:
    """Return convex losses with exact derivatives, those that are smooth first."""
    losses = [
        specification
        for specification in registry().specifications(LossSpecification)
        if specification.convex
        and specification.gradient == "exact"
        and not specification.needs
        and specification.longest is None
    ]
    losses.sort(key=lambda loss: (loss.curvature != "exact" or not loss.shift_invariant, loss.name))
    return [str(parse(Reference(loss.name))) for loss in losses]
