from .checking import check_plugins as check_plugins
from .doctor import examine as examine
from .doctor import installed_versions as installed_versions
from .scaffold import NewPlugin as NewPlugin

__all__ = [
    "NewPlugin",
    "check_plugins",
    "examine",
    "installed_versions",
]
