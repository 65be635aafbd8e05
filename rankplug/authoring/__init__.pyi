from .checking import check_plugins as check_plugins
from .compiling_ahead import Compilation as Compilation
from .compiling_ahead import compile_ahead as compile_ahead
from .compiling_ahead import to_compile as to_compile
from .doctor import examine as examine
from .doctor import installed_versions as installed_versions
from .notebook_copies import copy_notebooks as copy_notebooks
from .scaffold import NewPlugin as NewPlugin

__all__ = [
    "Compilation",
    "NewPlugin",
    "check_plugins",
    "compile_ahead",
    "copy_notebooks",
    "examine",
    "installed_versions",
    "to_compile",
]
