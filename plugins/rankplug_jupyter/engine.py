"""papermill's engine ``rankplug``: the same notebooks as papermill's own, from kernels that are forked.

papermill loads every engine when it is imported, also for those who use another, in the middle of its own import. So
this module imports nothing, and hands over at the first notebook.
"""

from __future__ import annotations

from typing import Any


class ForkedEngine:
    """Engine for papermill that executes notebooks in forked kernels."""

    @classmethod
    def execute_notebook(cls, nb: Any, kernel_name: str, **options: Any) -> Any:
        """Execute a notebook in a forked kernel."""
        from rankplug_jupyter.forked_execution import ForkedExecution

        return ForkedExecution.execute_notebook(nb, kernel_name, **options)

    @staticmethod
    def close() -> None:
        """End the processes that kernels are forked from, and the kernels that still run."""
        from rankplug_jupyter.forking import close_fork_servers

        close_fork_servers()

    @classmethod
    def nb_kernel_name(cls, nb: Any, name: str | None = None) -> str:
        """Return the name of the kernel a notebook asks for."""
        from papermill.engines import NBClientEngine

        return str(NBClientEngine.nb_kernel_name(nb, name))

    @classmethod
    def nb_language(cls, nb: Any, language: str | None = None) -> str:
        """Return the language a notebook is written in."""
        from papermill.engines import NBClientEngine

        return str(NBClientEngine.nb_language(nb, language))
