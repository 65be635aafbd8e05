from .figures import PALETTE as PALETTE
from .figures import STYLE as STYLE
from .figures import colour as colour
from .figures import curve_of_trials as curve_of_trials
from .figures import draw_curves as draw_curves
from .figures import draw_mean as draw_mean
from .figures import keep_within as keep_within
from .figures import legend_below as legend_below
from .figures import new_figure as new_figure
from .figures import save as save

__all__ = [
    "PALETTE",
    "STYLE",
    "colour",
    "curve_of_trials",
    "draw_curves",
    "draw_mean",
    "keep_within",
    "legend_below",
    "new_figure",
    "save",
]
