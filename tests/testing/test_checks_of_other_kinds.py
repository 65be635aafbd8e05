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
def uses_the_height(scores, key, perturbed):
    for i in range(scores.size):
        perturbed[i] = scores[i] * scores[i] + uniform(key, i)
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


@list_sampler
def no_noise(scores, perturbed):
    for i in range(scores.size):
        perturbed[i] = scores[i]
    return 1.0


@list_sampler
def upside_down(scores, key, perturbed):
    for i in range(scores.size):
        perturbed[i] = -scores[i] + 0.1 * uniform(key, i)
    return -1.0


@pytest.mark.parametrize(
    ("check", "function", "complaint"),
    [
        ("what_it_returns_is_the_derivative", wrong_slope, "it returns 1, finite differences give 0.5"),
        ("adding_a_constant_changes_nothing", uses_the_height, "adding 64"),
        ("perturbed_scores_are_finite", infinite, "perturbed scores are not finite in iteration 0"),
        ("every_document_and_list_has_noise_of_its_own", same_noise_for_all, "have the same perturbed score"),
        ("noise_is_repeated_by_seed_and_iteration", no_noise, "draw the same as"),
        ("the_better_document_comes_first_more_often", upside_down, "it comes first in 0% of 1600 draws"),
    ],
)
def test_a_broken_sampler_fails_the_check_that_is_meant_for_it(check, function, complaint):
    specification = SamplerSpecification(name="broken", summary="x", implementation=function, parameters=Samples)
    registry().add(specification)
    finding = getattr(sampler_checks, check).finding(sampler_checks.Case("broken"))
    assert finding.failed and complaint in finding.what


@list_metric
def unbounded(ranked):
    return ranked.sum()


@list_metric
def worst_first(ranked):
    return 1.0 / (1.0 + ranked[0])


@list_metric
def uses_scores(scores):
    return 1.0 / (1.0 + abs(scores[0]))


@list_metric
def writes_labels(labels):
    labels[0] = 0.0
    return 0.5


def depends_on_others(scores, labels, starts, parameters):
    return np.linspace(0, 1, len(starts) - 1) if len(starts) > 2 else np.full(1, 0.7)


@pytest.mark.parametrize(
    ("check", "function", "complaint"),
    [
        ("values_lie_between_lowest_and_highest", unbounded, "is not between 0 and 1"),
        ("no_order_is_better_than_the_labels_order", worst_first, "sorted by label it is"),
        ("only_the_order_of_scores_counts", uses_scores, "exp(scores) * 3 - 7 in place of the scores changes"),
        ("order_of_documents_does_not_matter", uses_scores, "the documents in the order"),
        ("lists_do_not_see_each_other", depends_on_others, "alone changes the values"),
        ("scores_and_labels_are_left_as_they_are", writes_labels, "it writes into what it is given"),
    ],
)
def test_a_broken_metric_fails_the_check_that_is_meant_for_it(check, function, complaint):
    registry().add(
        MetricSpecification(name="broken", summary="x", implementation=function, parameters=RankingMetricParameters)
    )
    finding = getattr(metric_checks, check).finding(metric_checks.Case("broken"))
    assert finding.failed and complaint in finding.what


def made(seed: int, labels: np.ndarray | None = None) -> Lists:
    features = np.random.default_rng(seed).normal(size=(12, 3)).astype(np.float32)
    return Lists(features, np.resize([0, 1, 2], 12).astype(np.float32) if labels is None else labels, np.arange(5) * 3)


def unsound_labels(parameters, fold, seed):
    return Split(made(1), made(2), made(3, np.full(12, -1, np.float32)))


def flat_labels(parameters, fold, seed):
    return Split(made(1, np.ones(12, np.float32)), made(2), made(3))


def global_noise(parameters, fold, seed):
    return Split(*(made(random.randrange(10**9)) for _ in range(3)))


def overlapping(parameters, fold, seed):
    return Split(made(1), made(2), made(1))


def one_fold_for_all(parameters, fold, seed):
    return Split(made(1), made(2), made(3))


def no_split(parameters, fold, seed):
    return made(1), made(2)


@pytest.mark.parametrize(
    ("check", "function", "complaint"),
    [
        ("it_gives_three_parts_with_the_same_features", no_split, "it gives tuple of ['Lists', 'Lists']"),
        ("values_are_sound", unsound_labels, "the test part is not sound: label -1.0 of document 0"),
        ("some_lists_tell_documents_apart", flat_labels, "in each training list all labels are equal"),
        ("a_seed_gives_the_same_data_again", global_noise, "loaded again, the parts train, valid, test are others"),
        ("global_random_numbers_are_left_alone", global_noise, "loading it moves the global random state"),
        ("no_list_is_in_two_parts", overlapping, "4 lists of the training part are in the test part too"),
        ("folds_differ_and_all_can_be_loaded", one_fold_for_all, "the 2 folds have only 1 different test parts"),
    ],
)
def test_a_broken_data_set_fails_the_check_that_is_meant_for_it(check, function, complaint):
    registry().add(DatasetSpecification(name="broken", summary="x", implementation=function, folds=2))
    finding = getattr(dataset_checks, check).finding(dataset_checks.Case("broken"))
    assert finding.failed and complaint in finding.what


class Callable(Parameters):
    """A parameter that no record can hold as it is."""

    scale: object = object()


def trains_on_a_tuple(split, parameters, generator):
    return tuple(split)


def loses_every_query(split, parameters, generator):
    return split._replace(valid=Lists(np.empty((0, 5), np.float32), np.empty(0), [0]))


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


def scales_by_the_whole_test_part(split, parameters, generator):
    return split._replace(test=replace(split.test, features=split.test.features - split.test.features.mean(0)))


@pytest.mark.parametrize(
    ("check", "function", "complaint"),
    [
        ("it_returns_three_parts_with_the_same_features", trains_on_a_tuple, "it returns tuple, not a Split"),
        ("lists_stay_lists", loses_every_query, "the valid part has no query"),
        ("lists_stay_lists", negative_labels, "the test part is not sound: label"),
        ("data_are_left_as_they_were", doubles_in_place, "it writes into train.features"),
        ("arrays_that_cannot_be_written_are_enough", doubles_in_place, "it raises ValueError"),
        ("a_seed_gives_the_same_again", global_shuffle, "applied again with the same seed, train.features"),
        ("global_random_numbers_are_left_alone", global_shuffle, "applying it moves the global random state"),
        ("it_is_recorded_with_all_its_parameters", negative_labels, "it raises PydanticSerializationError"),
        ("parts_it_does_not_name_are_left_alone", touches_the_test_part, "changes train, and changes valid.labels"),
        ("test_queries_do_not_see_each_other", learns_from_the_test_part, "of the test queries the train part"),
        ("test_queries_do_not_see_each_other", scales_by_the_whole_test_part, "the test part has other features"),
    ],
)
def test_a_broken_transform_fails_the_check_that_is_meant_for_it(check, function, complaint):
    registry().add(
        TransformSpecification(
            name="broken", summary="x", implementation=function, parameters=Callable, parts=("train",), by_query=True
        )
    )
    finding = getattr(transform_checks, check).finding(transform_checks.Case("broken"))
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
        if self.fault == "deaf":
            learner = Learner(problem, self.fault)
            for iteration in range(20):
                learner.advance(iteration)
            return learner.model(learner.weights, problem.record(iterations=20))
        if (
            self.fault == "no silent lists"
            and not np.maximum.reduceat(problem.train.labels, problem.train.starts[:-1]).all()
        ):
            raise ZeroDivisionError("division by zero")
        return train(Learner(problem, self.fault), problem, 20)

    def load(self, content, record):
        return WeightsModel(np.array([float(word) for word in content.split(b",")]), record, self.fault)


@pytest.mark.parametrize("kind", ["backend", "scorer"])
@pytest.mark.parametrize(
    ("check", "fault", "complaint"),
    [
        ("it_learns", "uphill", "after training"),
        ("predictions_are_one_finite_number_a_document", "one too few", "480 documents, scores of shape (479,)"),
        ("a_seed_gives_the_same_model_again", "global noise", "it predicts other scores"),
        ("global_random_numbers_are_left_alone", "global noise", "training moves the global random state"),
        ("a_model_comes_back_from_its_file", "rounded", "after a round trip through a file"),
        ("lists_do_not_see_each_other", "over the batch", "alone gets other scores than among others"),
        ("awkward_data_are_learnt_from", "no silent lists", "it raises ZeroDivisionError: division by zero at"),
        ("callbacks_see_every_iteration_and_can_stop", "deaf", "it called 0 times"),
        ("the_best_iteration_on_validation_data_is_kept", "another model", "the curve says"),
        ("data_are_left_as_they_are", "writes", "training writes into the data"),
    ],
)
def test_a_broken_backend_or_scorer_fails_the_check_that_is_meant_for_it(kind, check, fault, complaint):
    registry().add(
        BackendSpecification(name="broken", summary="x", implementation=Engine(fault), default_scorer="broken_linear")
    )
    registry().add(ScorerSpecification(name="broken_linear", summary="x", fitted_by={"broken": "math:floor"}))
    name = "broken" if kind == "backend" else "broken_linear"
    finding = getattr(fitting_checks, check).finding(fitting_checks.Case(name))
    assert finding.failed and complaint in finding.what, finding
