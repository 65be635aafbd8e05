from .checking import check_plugins as check_plugins
from .doctor import examine as examine
from .doctor import installed_versions as installed_versions
from .notebook_copies import copy_notebooks as copy_notebooks
from .scaffold import NewPlugin as NewPlugin

__all__ = [
    "NewPlugin",
    "check_plugins",
    "copy_notebooks",
    "examine",
    "installed_versions",
]
