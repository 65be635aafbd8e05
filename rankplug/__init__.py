"""Learning to rank in which every loss, sampler, scorer and backend is a plugin.

Everything public is reachable as an attribute of this package and imported at first use.
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

from rankplug.version import __version__ as __version__

_HOME = {
    "Lists": "lists",
    "Split": "datasets",
    "load": "datasets",
    "Parameters": "parameters",
    "Reference": "grammar",
    "RankplugError": "errors",
    "Evaluation": "losses",
    "Loss": "losses",
    "Objective": "losses",
    "loss": "losses_by_name",
    "Metric": "metrics",
    "evaluate": "metrics",
    "metric": "metrics",
    "list_metric": "list_metrics",
    "MetricParameters": "metric_parameters",
    "RankingMetricParameters": "metric_parameters",
    "Sampler": "samplers",
    "sampler": "samplers",
    "sweep": "sweeps",
    "results": "result_tables",
    "compare": "comparison",
    "fit_on_cluster": "cluster_fitting",
    "Store": "store",
    "Combination": "combinations",
    "list_loss": "list_losses",
    "list_sampler": "list_samplers",
    "fit": "fitting",
    "Ranker": "ranker",
    "Model": "models",
    "load_model": "models",
    "padded_loss": "padded_losses",
    "PaddedParameters": "padded_parameters",
    "TorchLoss": "torch_losses",
    "torch_loss": "torch_losses",
    "study": "studies",
    "hookimpl": "hookspecs",
    "use_threads": "threads",
    "BackendSpecification": "specifications",
    "DatasetSpecification": "specifications",
    "LossSpecification": "specifications",
    "MetricSpecification": "specifications",
    "SamplerSpecification": "specifications",
    "ScorerSpecification": "specifications",
    "StudySpecification": "specifications",
    "TransformSpecification": "specifications",
}

if TYPE_CHECKING:
    from rankplug.datasets import Split as Split
    from rankplug.datasets import load as load
    from rankplug.errors import RankplugError as RankplugError
    from rankplug.fitting import fit as fit
    from rankplug.grammar import Reference as Reference
    from rankplug.hookspecs import hookimpl as hookimpl
    from rankplug.list_metrics import list_metric as list_metric
    from rankplug.lists import Lists as Lists
    from rankplug.losses import Loss as Loss
    from rankplug.losses_by_name import loss as loss
    from rankplug.metric_parameters import MetricParameters as MetricParameters
    from rankplug.metric_parameters import RankingMetricParameters as RankingMetricParameters
    from rankplug.metrics import Metric as Metric
    from rankplug.metrics import evaluate as evaluate
    from rankplug.metrics import metric as metric
    from rankplug.models import Model as Model
    from rankplug.models import load_model as load_model
    from rankplug.padded_parameters import PaddedParameters as PaddedParameters
    from rankplug.parameters import Parameters as Parameters
    from rankplug.specifications import BackendSpecification as BackendSpecification
    from rankplug.specifications import DatasetSpecification as DatasetSpecification
    from rankplug.specifications import LossSpecification as LossSpecification
    from rankplug.specifications import MetricSpecification as MetricSpecification
    from rankplug.specifications import SamplerSpecification as SamplerSpecification
    from rankplug.specifications import ScorerSpecification as ScorerSpecification
    from rankplug.specifications import StudySpecification as StudySpecification
    from rankplug.specifications import TransformSpecification as TransformSpecification
    from rankplug.studies import study as study


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(importlib.import_module(f"rankplug.{_HOME[name]}"), name)
    elif name.startswith("_") or importlib.util.find_spec(f"rankplug.{name}") is not None:
        raise AttributeError(f"module 'rankplug' has no attribute {name!r}")
    else:
        value = _exported(name)
    globals()[name] = value
    return value


def _exported(name: str) -> Any:
    """What an installed backend offers under a name."""
    from rankplug.ranker import Ranker as Ranker
    from rankplug.registry import registry

    try:
        return registry().exported(name)
    except AttributeError:
        raise AttributeError(f"module 'rankplug' has no attribute {name!r}") from None


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
