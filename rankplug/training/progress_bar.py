"""A bar that shows how training goes, in a terminal and in a notebook, and nowhere else."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Mapping
from types import TracebackType
from typing import Any

from rankplug.system import seen_at_once


def watched() -> bool:
    """Tell whether to show a progress bar: in a terminal or a notebook, but not under CI or in a worker."""
    if os.environ.get("CI"):
        return False
    if multiprocessing.current_process().name != "MainProcess" or threading.current_thread() is not _main():
        return False
    return seen_at_once()


def _main() -> threading.Thread:
    return threading.main_thread()


class ProgressBar:
    """One step an iteration, with the metrics behind it.

    Args:
        total: number of iterations at most.
        unit: what an iteration is, such as ``tree``.
        show: whether to show it; by default only in a terminal or a notebook.
    """

    def __init__(self, total: int, unit: str, show: bool | None = None) -> None:
        self._bar: Any = None
        if watched() if show is None else show:
            from tqdm.auto import tqdm

            self._bar = tqdm(total=total, unit=unit, leave=False)

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.close()

    def step(self, metrics: Mapping[str, float]) -> None:
        """Count an iteration, and show its metrics."""
        if self._bar is not None:
            self._bar.set_postfix({name: f"{value:.4f}" for name, value in metrics.items()}, refresh=False)
            self._bar.update()
