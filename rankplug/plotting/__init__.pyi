from .curves import draw_band as draw_band
from .curves import draw_curves as draw_curves
from .curves import draw_interval as draw_interval
from .curves import draw_mean as draw_mean
from .figures import PALETTE as PALETTE
from .figures import SMALLEST as SMALLEST
from .figures import colour as colour
from .figures import distinct_colours as distinct_colours
from .figures import encode_figure as encode_figure
from .figures import in_style as in_style
from .figures import keep_within as keep_within
from .figures import lay_out as lay_out
from .figures import legend_below as legend_below
from .figures import new_figure as new_figure
from .figures import save as save
from .figures import save_figure as save_figure
from .forest import FARTHEST as FARTHEST
from .forest import ForestCell as ForestCell
from .forest import ForestRow as ForestRow
from .forest import draw_forest as draw_forest
from .markers import MARKERS as MARKERS
from .markers import mark_lines as mark_lines
from .points import encode_points as encode_points
from .rank_diagram import draw_ranks as draw_ranks
from .verdict_bars import draw_verdict_counts as draw_verdict_counts

__all__ = [
    "FARTHEST",
    "MARKERS",
    "PALETTE",
    "SMALLEST",
    "ForestCell",
    "ForestRow",
    "colour",
    "distinct_colours",
    "draw_band",
    "draw_curves",
    "draw_forest",
    "draw_interval",
    "draw_mean",
    "draw_ranks",
    "draw_verdict_counts",
    "encode_figure",
    "encode_points",
    "in_style",
    "keep_within",
    "lay_out",
    "legend_below",
    "mark_lines",
    "new_figure",
    "save",
    "save_figure",
]
