"""Nobody published these numbers: the frame of published ones is empty."""

from __future__ import annotations

import pandas as pd


def nothing_published() -> pd.DataFrame:
    """Return no rows, in the usual columns."""
    return pd.DataFrame(columns=["exhibit", "dataset", "model", "metric", "value", "half_width", "note"])
