from ._models import LearningCurve as LearningCurve
from ._models import Model as Model
from ._models import Record as Record
from ._models import check_replaceable as check_replaceable
from ._models import check_writable as check_writable
from ._models import load_model as load_model
from ._models import sidecar_of as sidecar_of
from ._models import write_model_file as write_model_file
from .boosting import BoostingObjective as BoostingObjective
from .boosting import threads_for_trees as threads_for_trees
from .cluster_fitting import ClusterProblem as ClusterProblem
from .cluster_fitting import FittedEngine as FittedEngine
from .cluster_fitting import fit_on_cluster as fit_on_cluster
from .debiasing.methods import Debiasing as Debiasing
from .engine_objective import EngineObjective as EngineObjective
from .exports.explaining import Method as Method
from .exports.explaining import draw_explanation as draw_explanation
from .exports.explaining import explain as explain
from .fitting import Problem as Problem
from .fitting import fit as fit
from .fitting import problem_of as problem_of
from .ranker import Ranker as Ranker
from .selection import LOSS as LOSS
from .training_loop import Learner as Learner
from .training_loop import Observer as Observer
from .training_loop import Part as Part
from .training_loop import StepwiseLearner as StepwiseLearner
from .training_loop import checked as checked
from .training_loop import train as train
from .tree_settings import TreeSettings as TreeSettings
from .tree_settings import of_engine as of_engine
from .tree_settings import with_engine as with_engine

__all__ = [
    "LOSS",
    "BoostingObjective",
    "ClusterProblem",
    "CompiledModel",
    "Debiasing",
    "EngineObjective",
    "FittedEngine",
    "Learner",
    "LearningCurve",
    "Method",
    "Model",
    "Observer",
    "Part",
    "Problem",
    "Ranker",
    "Record",
    "RunningScores",
    "StepwiseLearner",
    "Tree",
    "TreeEnsemble",
    "TreeSettings",
    "at_most",
    "below",
    "check_replaceable",
    "check_writable",
    "checked",
    "draw_explanation",
    "explain",
    "fit",
    "fit_on_cluster",
    "load_model",
    "of_engine",
    "onnx_linear",
    "problem_of",
    "sidecar_of",
    "threads_for_trees",
    "train",
    "tree_of",
    "with_engine",
]
