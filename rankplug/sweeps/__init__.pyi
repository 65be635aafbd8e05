from .running import Plan as Plan
from .running import carry_out as carry_out
from .running import sweep as sweep
from .sweep_files import Sweep as Sweep
from .sweep_files import read_file as read_file
from .sweep_files import read_words as read_words

__all__ = [
    "Plan",
    "Sweep",
    "carry_out",
    "read_file",
    "read_words",
    "sweep",
]
