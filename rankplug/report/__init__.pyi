from .controls import controls as controls
from .display import live as live
from .display import show as show
from .display import show_claims as show_claims
from .display import show_findings as show_findings
from .display import show_forest as show_forest
from .display import show_runs as show_runs
from .forest import ClaimsInShort as ClaimsInShort
from .forest import claims_style as claims_style
from .kept_exhibits import KeptExhibit as KeptExhibit
from .kept_exhibits import KeptExhibits as KeptExhibits
from .rendering import math_font as math_font
from .rendering import math_html as math_html
from .rendering import slug as slug
from .reproduction import execute_notebook as execute_notebook
from .reproduction import plan_reproduction as plan_reproduction
from .reproduction import reproduce as reproduce
from .site import build_report as build_report
from .site import write_scoreboard as write_scoreboard
from .tour import Tour as Tour
from .tour import check_parameters as check_parameters

__all__ = [
    "ClaimsInShort",
    "KeptExhibit",
    "KeptExhibits",
    "Tour",
    "build_report",
    "check_parameters",
    "claims_style",
    "controls",
    "execute_notebook",
    "live",
    "math_font",
    "math_html",
    "plan_reproduction",
    "reproduce",
    "show",
    "show_claims",
    "show_findings",
    "show_forest",
    "show_runs",
    "slug",
    "write_scoreboard",
]
