from . import seeds as seeds
from . import workers as workers
from .folders import OwnedFolder as OwnedFolder
from .folders import SocketFolder as SocketFolder
from .folders import cache_folder as cache_folder
from .folders import data_folders as data_folders
from .folders import has_room as has_room
from .installed import __version__ as __version__
from .installed import missing as missing
from .installed import notebooks_folder as notebooks_folder
from .installed import package_versions as package_versions
from .installed import packaged_file as packaged_file
from .installed import require_modules as require_modules
from .installed import version_of as version_of
from .kernels import end_kernels as end_kernels
from .kernels import execute_notebook as execute_notebook
from .machine_faults import is_of_the_machine as is_of_the_machine
from .memory import check_memory as check_memory
from .plain_numbers import LARGEST_SEED as LARGEST_SEED
from .plain_numbers import distinct as distinct
from .plain_numbers import fraction as fraction
from .plain_numbers import identifiers as identifiers
from .plain_numbers import numbers as numbers
from .plain_numbers import refuse_masked as refuse_masked
from .plain_numbers import whole_number as whole_number
from .processes import child_command as child_command
from .processes import child_environment as child_environment
from .processes import safe_children as safe_children
from .results_place import other_results as other_results
from .results_place import report_folder as report_folder
from .results_place import results_folder as results_folder
from .results_place import results_place as results_place
from .seeds import generator as generator
from .seeds import stream as stream
from .seeds import trial_seed as trial_seed
from .terminal import Cell as Cell
from .terminal import aligned as aligned
from .terminal import hand_over as hand_over
from .terminal import harmless as harmless
from .terminal import in_notebook as in_notebook
from .terminal import interruptible as interruptible
from .terminal import prepare_streams as prepare_streams
from .terminal import say as say
from .terminal import say_table as say_table
from .terminal import seen_at_once as seen_at_once
from .thread_limits import WAITING as WAITING
from .thread_limits import available_cores as available_cores
from .thread_limits import busy_threads as busy_threads
from .thread_limits import free_cores as free_cores
from .thread_limits import given_threads as given_threads
from .thread_limits import thread_environment as thread_environment
from .thread_limits import threads as threads
from .thread_limits import threads_for as threads_for
from .thread_limits import use_threads as use_threads
from .thread_limits import waiting_pools as waiting_pools
from .watched_children import ChildEnd as ChildEnd
from .watched_children import run_watched as run_watched
from .whole_files import LEFT_BEHIND_AFTER as LEFT_BEHIND_AFTER
from .whole_files import UNFINISHED as UNFINISHED
from .whole_files import UNFINISHED_NAME as UNFINISHED_NAME
from .whole_files import UNFINISHED_PREFIX as UNFINISHED_PREFIX
from .whole_files import check_can_write as check_can_write
from .whole_files import remove_abandoned as remove_abandoned
from .whole_files import whole_file as whole_file
from .whole_files import whole_folder as whole_folder
from .whole_files import write_whole as write_whole
from .workers import WORTH_A_THREAD_BESIDE_AN_ENGINE as WORTH_A_THREAD_BESIDE_AN_ENGINE

__all__ = [
    "LARGEST_SEED",
    "LEFT_BEHIND_AFTER",
    "UNFINISHED",
    "UNFINISHED_NAME",
    "UNFINISHED_PREFIX",
    "WAITING",
    "WORTH_A_THREAD_BESIDE_AN_ENGINE",
    "Cell",
    "ChildEnd",
    "OwnedFolder",
    "SocketFolder",
    "__version__",
    "aligned",
    "available_cores",
    "busy_threads",
    "cache_folder",
    "check_can_write",
    "check_memory",
    "child_command",
    "child_environment",
    "data_folders",
    "distinct",
    "end_kernels",
    "execute_notebook",
    "fraction",
    "free_cores",
    "generator",
    "given_threads",
    "hand_over",
    "harmless",
    "has_room",
    "identifiers",
    "in_notebook",
    "interruptible",
    "is_of_the_machine",
    "missing",
    "notebooks_folder",
    "numbers",
    "other_results",
    "package_versions",
    "packaged_file",
    "prepare_streams",
    "refuse_masked",
    "remove_abandoned",
    "report_folder",
    "require_modules",
    "results_folder",
    "results_place",
    "run_watched",
    "safe_children",
    "say",
    "say_table",
    "seeds",
    "seen_at_once",
    "stream",
    "thread_environment",
    "threads",
    "threads_for",
    "trial_seed",
    "use_threads",
    "version_of",
    "waiting_pools",
    "whole_file",
    "whole_folder",
    "whole_number",
    "workers",
    "write_whole",
]
