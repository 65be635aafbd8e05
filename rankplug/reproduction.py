"""``rankplug reproduce``: runs what a paper needs, executes its notebook on the results, and writes the report."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rankplug.errors import RankplugError
from rankplug.places import notebooks_folder
from rankplug.report.shown import reproduced
from rankplug.report.site import build_report, write_summary
from rankplug.store import Store
from rankplug.studies import Profile, Study, studies, study


def reproduce(
    names: Iterable[str] = ("all",),
    *,
    profile: Profile = "quick",
    data: str | None = None,
    store: Store | None = None,
    report: Path = Path("report"),
    progress: bool = True,
    **execution: Any,
) -> Path:
    """Reproduces some papers; the path of the report's first page.

    Args:
        names: of studies, or ``all``.
        profile: how large.
        data: a data set in place of the profile's own.
        store: where results lie; what is there is not run again.
        report: the folder to write.
        progress: shows what is being done.
        execution: handed to the sweeps.
    """
    wanted = list(names)
    chosen = studies() if "all" in wanted else [study(name) for name in wanted]
    if not chosen:
        raise RankplugError("no study is installed")
    results_of = store or Store()
    try:
        report.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RankplugError(f"cannot write the report to {report}: {error.strerror}; name another folder") from error
    shown = {}
    for one in chosen:
        results = one.results(profile, data=data, store=results_of, progress=progress, **execution)
        notebook = execute_notebook(one, profile, data, results_of, report, progress)
        shown[one.name] = reproduced(one, results, notebook, report, results_of)
    write_summary(shown, report)
    return build_report(shown, report)


def execute_notebook(
    one: Study, profile: Profile, data: str | None, store: Store, report: Path, progress: bool
) -> Path:
    """Executes a study's notebook on the results in the store; the executed notebook's path."""
    import papermill

    target = report / "notebooks" / one.notebook
    target.parent.mkdir(parents=True, exist_ok=True)
    papermill.execute_notebook(
        notebooks_folder() / one.notebook,
        target,
        parameters={"profile": profile, "data": data, "store": str(store.folder.resolve())},
        engine_name="rankplug",
        progress_bar=progress,
        cwd=str(target.parent),
    )
    return target
