"""The hooks a plugin may implement, under the entry-point group ``rankplug``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import pluggy

if TYPE_CHECKING:
    from rankplug import registry

hookspec = pluggy.HookspecMarker("rankplug")
hookimpl = pluggy.HookimplMarker("rankplug")


@hookspec
def rankplug_losses() -> Iterable[registry.LossSpecification]:
    """Offer losses: functions of one list's scores and labels."""


@hookspec
def rankplug_samplers() -> Iterable[registry.SamplerSpecification]:
    """Offer samplers: laws of noise on the scores."""


@hookspec
def rankplug_scorers() -> Iterable[registry.ScorerSpecification]:
    """Offer scorers: spaces of functions from features to scores."""


@hookspec
def rankplug_backends() -> Iterable[registry.BackendSpecification]:
    """Offer backends: engines that fit a scorer to a loss."""


@hookspec
def rankplug_datasets() -> Iterable[registry.DatasetSpecification]:
    """Offer data sets, read or made."""


@hookspec
def rankplug_transforms() -> Iterable[registry.TransformSpecification]:
    """Offer transforms: recorded changes of data."""


@hookspec
def rankplug_debiasings() -> Iterable[registry.DebiasingSpecification]:
    """Offer debiasings: ways to learn from clicks."""


@hookspec
def rankplug_metrics() -> Iterable[registry.MetricSpecification]:
    """Offer metrics: one value a list."""


@hookspec
def rankplug_studies() -> Iterable[registry.StudySpecification]:
    """Offer studies: papers with their figures, tables and claims."""


@hookspec
def rankplug_functions() -> Mapping[str, str]:
    """Offer functions as attributes of ``rankplug``, each by its name and ``"package.module:function"``."""


@hookspec
def rankplug_trial_started(trial: Any) -> None:
    """Observe that a trial of a combination begins."""


@hookspec
def rankplug_trial_progressed(trial: Any, iteration: int, metrics: dict[str, float]) -> None:
    """Observe that a trial has finished an iteration (a tree, or an epoch)."""


@hookspec
def rankplug_trial_finished(trial: Any, result: Any) -> None:
    """Observe that a trial has ended, with a result or a failure."""
