from .combination import ADDED_PARTS as ADDED_PARTS
from .combination import METRICS as METRICS
from .combination import PLUGIN_PARTS as PLUGIN_PARTS
from .combination import Combination as Combination
from .combination import combinations as combinations
from .combination import read_combination as read_combination
from .kept_runs import KeptRun as KeptRun
from .kept_runs import kept_run as kept_run
from .kept_runs import ranked_by as ranked_by
from .kept_scores import KeptScores as KeptScores
from .origins import SUMS as SUMS
from .origins import origins_of as origins_of
from .origins import sha256_of as sha256_of
from .origins import write_sums as write_sums
from .questions.comparison import compare as compare
from .questions.figure import draw_results as draw_results
from .questions.groups import means_of_trials as means_of_trials
from .questions.paper_table import PaperTable as PaperTable
from .questions.paper_table import paper_table as paper_table
from .questions.paper_table_text import paper_table_cells as paper_table_cells
from .questions.paper_table_text import plain_note as plain_note
from .questions.paper_table_text import write_paper_table as write_paper_table
from .questions.table_text import escaped as escaped
from .questions.table_text import latex_table as latex_table
from .questions.table_text import markdown_table as markdown_table
from .questions.table_text import table_cells as table_cells
from .questions.table_text import write_table as write_table
from .questions.tables import query as query
from .questions.tables import results as results
from .result_files import StoreError as StoreError
from .result_files import describe as describe
from .result_files import read_about as read_about
from .result_store import TRIAL_COLUMNS as TRIAL_COLUMNS
from .result_store import ResultsError as ResultsError
from .result_store import Store as Store
from .trial_runs import failed_result as failed_result
from .trial_runs import run_trial as run_trial
from .trials import Result as Result
from .trials import Trial as Trial
from .upkeep import export as export
from .upkeep import merge as merge
from .upkeep import sweep_file as sweep_file
from .upkeep import verify as verify

__all__ = [
    "ADDED_PARTS",
    "METRICS",
    "PLUGIN_PARTS",
    "SUMS",
    "TRIAL_COLUMNS",
    "Combination",
    "KeptRun",
    "KeptScores",
    "PaperTable",
    "Result",
    "ResultsError",
    "Store",
    "StoreError",
    "Trial",
    "combinations",
    "compare",
    "describe",
    "draw_results",
    "escaped",
    "export",
    "failed_result",
    "kept_run",
    "latex_table",
    "markdown_table",
    "means_of_trials",
    "merge",
    "origins_of",
    "paper_table",
    "paper_table_cells",
    "plain_note",
    "query",
    "ranked_by",
    "read_about",
    "read_combination",
    "results",
    "run_trial",
    "sha256_of",
    "sweep_file",
    "table_cells",
    "verify",
    "write_paper_table",
    "write_sums",
    "write_table",
]
