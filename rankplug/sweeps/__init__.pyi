from .plans import ExpectedTime as ExpectedTime
from .plans import Plan as Plan
from .plans import Sweep as Sweep
from .plans import expected_time as expected_time
from .plans import further_plans as further_plans
from .plans import plan_sweeps as plan_sweeps
from .plans import read_folds as read_folds
from .readiness import require as require
from .running import Outcome as Outcome
from .running import run as run
from .running import sweep as sweep
from .search.tuning import Tuning as Tuning
from .search.tuning import plan_search as plan_search
from .search.tuning import tune as tune
from .sweep_files import read_file as read_file
from .sweep_files import read_words as read_words
from .sweep_progress import duration as duration
from .validation_choice import chosen_on_validation as chosen_on_validation
from .validation_choice import needed_trials as needed_trials
from .validation_choice import validation_quality as validation_quality

__all__ = [
    "ExpectedTime",
    "Outcome",
    "Plan",
    "Sweep",
    "Tuning",
    "chosen_on_validation",
    "duration",
    "expected_time",
    "further_plans",
    "needed_trials",
    "plan_search",
    "plan_sweeps",
    "read_file",
    "read_folds",
    "read_words",
    "require",
    "run",
    "sweep",
    "tune",
    "validation_quality",
]
