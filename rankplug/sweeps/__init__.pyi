from .expected_time import expected_time as expected_time
from .running import Outcome as Outcome
from .running import Plan as Plan
from .running import carry_out as carry_out
from .running import sweep as sweep
from .sweep_files import Sweep as Sweep
from .sweep_files import read_file as read_file
from .sweep_files import read_words as read_words
from .sweep_progress import duration as duration

__all__ = [
    "Outcome",
    "Plan",
    "Sweep",
    "carry_out",
    "duration",
    "expected_time",
    "read_file",
    "read_words",
    "sweep",
]
