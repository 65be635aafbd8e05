from . import dataset_checks as dataset_checks
from . import fitting_checks as fitting_checks
from . import loss_checks as loss_checks
from . import metric_checks as metric_checks
from . import sampler_checks as sampler_checks
from . import study_checks as study_checks
from . import transform_checks as transform_checks
from .checks import Contract as Contract
from .checks import Finding as Finding
from .contracts import BackendContract as BackendContract
from .contracts import DatasetContract as DatasetContract
from .contracts import LossContract as LossContract
from .contracts import MetricContract as MetricContract
from .contracts import SamplerContract as SamplerContract
from .contracts import ScorerContract as ScorerContract
from .contracts import StudyContract as StudyContract
from .contracts import TransformContract as TransformContract

__all__ = [
    "BackendContract",
    "Contract",
    "DatasetContract",
    "Finding",
    "LossContract",
    "MetricContract",
    "SamplerContract",
    "ScorerContract",
    "StudyContract",
    "TransformContract",
    "dataset_checks",
    "fitting_checks",
    "loss_checks",
    "metric_checks",
    "sampler_checks",
    "study_checks",
    "transform_checks",
]
