"""Each check of a sampler, metric, data set, backend or scorer fails on a plugin that breaks it."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from rankplug import (
    BackendSpecification,
    DatasetSpecification,
    Lists,
    MetricSpecification,
    Parameters,
    RankingMetricParameters,
    SamplerSpecification,
    ScorerSpecification,
    Split,
    TransformSpecification,
    list_metric,
    list_sampler,
)
from rankplug.compiled import uniform
from rankplug.registry import registry
from rankplug.testing import dataset_checks, fitting_checks, metric_checks, sampler_checks, transform_checks
from rankplug.training import Model, Problem, StepwiseLearner, train


class Samples(Parameters):
    samples: int = 4


@list_sampler
def wrong_slope(scores, key, perturbed):
    for i in range(scores.size):
        perturbed[i] = 0.5 * scores[i] + uniform(key, i)
    return 1.0


@list_sampler
def infinite(scores, key, perturbed):
    for i in range(scores.size):
        perturbed[i] = scores[i] + 1.0 / (uniform(key, i) - uniform(key, i))
    return 1.0


@list_sampler
def same_noise_for_all(scores, key, perturbed):
    for i in range(scores.size):
        perturbed[i] = scores[i] + uniform(key, 0)
    return 1.0


@list_metric
def worst_first(ranked):
    return 1.0 / (1.0 + ranked[0])


@list_metric
def uses_scores(scores):
    return 1.0 / (1.0 + abs(scores[0]))


def depends_on_others(scores, labels, starts, parameters):
    return np.linspace(0, 1, len(starts) - 1) if len(starts) > 2 else np.full(1, 0.7)


def made(seed: int, labels: np.ndarray | None = None) -> Lists:
    features = np.random.default_rng(seed).normal(size=(12, 3)).astype(np.float32)
    return Lists(features, np.resize([0, 1, 2], 12).astype(np.float32) if labels is None else labels, np.arange(5) * 3)


def unsound_labels(parameters, fold, seed):
    return Split(made(1), made(2), made(3, np.full(12, -1, np.float32)))


def global_noise(parameters, fold, seed):
    return Split(*(made(random.randrange(10**9)) for _ in range(3)))


def overlapping(parameters, fold, seed):
    return Split(made(1), made(2), made(1))


class Callable(Parameters):
    """A parameter that no record can hold as it is."""

    scale: object = object()


def negative_labels(split, parameters, generator):
    return split._replace(test=replace(split.test, labels=-1 - split.test.labels))


def doubles_in_place(split, parameters, generator):
    split.train.features[:] *= 2
    return split


def global_shuffle(split, parameters, generator):
    return split._replace(train=split.train[np.random.permutation(len(split.train))])  # noqa: NPY002


def touches_the_test_part(split, parameters, generator):
    return Split(*(replace(part, labels=part.labels + 1) for part in split))


def learns_from_the_test_part(split, parameters, generator):
    return split._replace(train=replace(split.train, features=split.train.features - split.test.features.mean(0)))


SPECIFICATIONS = {
    sampler_checks: (SamplerSpecification, {"parameters": Samples}),
    metric_checks: (MetricSpecification, {"parameters": RankingMetricParameters}),
    dataset_checks: (DatasetSpecification, {"folds": 2}),
    transform_checks: (TransformSpecification, {"parameters": Callable, "parts": ("train",), "by_query": True}),
}
BROKEN = [
    (sampler_checks, "what_it_returns_is_the_derivative", wrong_slope, "finite differences give 0.5"),
    (sampler_checks, "perturbed_scores_are_finite", infinite, "perturbed scores are not finite in iteration 0"),
    (sampler_checks, "every_document_and_list_has_noise_of_its_own", same_noise_for_all, "the same perturbed"),
    (metric_checks, "no_order_is_better_than_the_labels_order", worst_first, "sorted by label it is"),
    (metric_checks, "only_the_order_of_scores_counts", uses_scores, "exp(scores) * 3 - 7 in place of the"),
    (metric_checks, "order_of_documents_does_not_matter", uses_scores, "the documents in the order"),
    (metric_checks, "lists_do_not_see_each_other", depends_on_others, "alone changes the values"),
    (dataset_checks, "values_are_sound", unsound_labels, "the test part is not sound: label -1.0 of document 0"),
    (dataset_checks, "a_seed_gives_the_same_data_again", global_noise, "the parts train, valid, test are others"),
    (dataset_checks, "global_random_numbers_are_left_alone", global_noise, "moves the global random state"),
    (dataset_checks, "no_list_is_in_two_parts", overlapping, "4 lists of the training part"),
    (transform_checks, "lists_stay_lists", negative_labels, "the test part is not sound: label"),
    (transform_checks, "data_are_left_as_they_were", doubles_in_place, "it writes into train.features"),
    (transform_checks, "a_seed_gives_the_same_again", global_shuffle, "with the same seed, train.features"),
    (transform_checks, "it_is_recorded_with_all_its_parameters", negative_labels, "PydanticSerializationError"),
    (transform_checks, "parts_it_does_not_name_are_left_alone", touches_the_test_part, "and changes valid.labels"),
    (transform_checks, "test_queries_do_not_see_each_other", learns_from_the_test_part, "the train part"),
]


@pytest.mark.parametrize(("checks", "check", "function", "complaint"), BROKEN)
def test_a_broken_plugin_fails_the_check_meant_for_it(checks, check, function, complaint):
    kind, declared = SPECIFICATIONS[checks]
    registry().add(kind(name="broken", summary="x", implementation=function, **declared))
    finding = getattr(checks, check).finding(checks.Case("broken"))
    assert finding.failed and complaint in finding.what


class WeightsModel(Model):
    def __init__(self, weights, record, fault):
        super().__init__(record)
        self.weights, self.fault = weights, fault

    def _scores(self, features, starts):
        scores = features @ self.weights
        if self.fault == "over the batch":
            scores = scores - scores.mean()
        return scores[:-1] if self.fault == "one too few" else scores

    def encode(self, suffix):
        digits = 1 if self.fault == "rounded" else 17
        return ",".join(f"{weight:.{digits}g}" for weight in self.weights).encode()


class Learner(StepwiseLearner):
    def __init__(self, problem: Problem, fault: str):
        self.problem, self.fault, self.objective = problem, fault, problem.objective()
        self.weights = np.random.normal(size=4) if fault == "global noise" else np.zeros(4)  # noqa: NPY002

    def advance(self, iteration):
        train = self.problem.train
        slope = self.objective(self.scores("train")).gradient @ train.features / len(train)
        self.weights = self.weights - (-0.1 if self.fault == "uphill" else 0.1) * slope
        if self.fault == "writes":
            train.features[0, 0] = 7.0
        return True

    def scores(self, part):
        return getattr(self.problem, part).features @ self.weights

    def snapshot(self):
        return self.weights

    def model(self, snapshot, record):
        weights = -snapshot if self.fault == "another model" else snapshot
        return WeightsModel(weights, record, self.fault)


class Engine:
    def __init__(self, fault: str):
        self.fault = fault

    def fit(self, problem):
        return train(Learner(problem, self.fault), problem, 20)

    def load(self, content, record):
        return WeightsModel(np.array([float(word) for word in content.split(b",")]), record, self.fault)


@pytest.mark.parametrize(
    ("check", "fault", "complaint"),
    [
        ("it_learns", "uphill", "after training"),
        ("predictions_are_one_finite_number_a_document", "one too few", "480 documents, scores of shape (479,)"),
        ("a_seed_gives_the_same_model_again", "global noise", "it predicts other scores"),
        ("a_model_comes_back_from_its_file", "rounded", "after a round trip through a file"),
        ("lists_do_not_see_each_other", "over the batch", "alone gets other scores than among others"),
        ("the_best_iteration_on_validation_data_is_kept", "another model", "the curve says"),
        ("data_are_left_as_they_are", "writes", "training writes into the data"),
    ],
)
def test_a_broken_backend_fails_the_check_meant_for_it(check, fault, complaint):
    registry().add(
        BackendSpecification(name="broken", summary="x", implementation=Engine(fault), default_scorer="broken_linear")
    )
    registry().add(ScorerSpecification(name="broken_linear", summary="x", fitted_by={"broken": "math:floor"}))
    finding = getattr(fitting_checks, check).finding(fitting_checks.Case("broken"))
    assert finding.failed and complaint in finding.what, finding
