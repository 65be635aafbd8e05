import typing

from .data import Lists as Lists
from .data import Split as Split
from .data import load as load
from .errors import RankplugError as RankplugError
from .hookspecs import hookimpl as hookimpl
from .losses import Evaluation as Evaluation
from .losses import Loss as Loss
from .losses import Objective as Objective
from .losses import PaddedParameters as PaddedParameters
from .losses import list_loss as list_loss
from .losses import loss as loss
from .losses import padded_loss as padded_loss
from .metrics import Metric as Metric
from .metrics import MetricParameters as MetricParameters
from .metrics import RankingMetricParameters as RankingMetricParameters
from .metrics import evaluate as evaluate
from .metrics import list_metric as list_metric
from .metrics import metric as metric
from .registry import BackendSpecification as BackendSpecification
from .registry import DatasetSpecification as DatasetSpecification
from .registry import DebiasingSpecification as DebiasingSpecification
from .registry import LossSpecification as LossSpecification
from .registry import MetricSpecification as MetricSpecification
from .registry import Parameters as Parameters
from .registry import Reference as Reference
from .registry import SamplerSpecification as SamplerSpecification
from .registry import ScorerSpecification as ScorerSpecification
from .registry import StudySpecification as StudySpecification
from .registry import TransformSpecification as TransformSpecification
from .samplers import Sampler as Sampler
from .samplers import list_sampler as list_sampler
from .samplers import sampler as sampler
from .store import Combination as Combination
from .store import Store as Store
from .store import compare as compare
from .store import results as results
from .studies import study as study
from .sweeps import sweep as sweep
from .system import __version__ as __version__
from .system import use_threads as use_threads
from .training import Model as Model
from .training import fit as fit
from .training import load_model as load_model

def __getattr__(name: str) -> typing.Any: ...  # what installed backends offer
