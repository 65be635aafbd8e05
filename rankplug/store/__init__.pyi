from .combination import METRICS as METRICS
from .combination import Combination as Combination
from .combination import combinations as combinations
from .combination import read_combination as read_combination
from .comparison import compare as compare
from .result_figure import draw_results as draw_results
from .result_files import StoreError as StoreError
from .result_files import describe as describe
from .result_files import read_about as read_about
from .result_groups import means_of_trials as means_of_trials
from .result_store import TRIAL_COLUMNS as TRIAL_COLUMNS
from .result_store import ResultsError as ResultsError
from .result_store import Store as Store
from .result_tables import query as query
from .result_tables import results as results
from .table_text import write_table as write_table
from .trials import Result as Result
from .trials import Trial as Trial
from .trials import failed_result as failed_result
from .trials import run_trial as run_trial
from .upkeep import export as export
from .upkeep import merge as merge

__all__ = [
    "METRICS",
    "TRIAL_COLUMNS",
    "Combination",
    "Result",
    "ResultsError",
    "Store",
    "StoreError",
    "Trial",
    "combinations",
    "compare",
    "describe",
    "draw_results",
    "export",
    "failed_result",
    "means_of_trials",
    "merge",
    "query",
    "read_about",
    "read_combination",
    "results",
    "run_trial",
    "write_table",
]
