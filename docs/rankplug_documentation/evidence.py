"""Evidence that the pages show of a profile's runs: verdicts, and the figures and tables of the papers' pages.

``python -m rankplug_documentation.evidence full --store results`` evaluates what the store has of each paper, however
many of the profile's trials that are, and fills ``docs/evidence``; ``make docs`` then writes the pages.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from rankplug.errors import NotRunError, RankplugError
from rankplug.report import KeptExhibits
from rankplug.statistics import look_steps
from rankplug.store import Store
from rankplug.studies import (
    Profile,
    Results,
    Runs,
    Study,
    StudyEvidence,
    Verdict,
    evaluate,
    evidence_of,
    read_profile,
    study,
)
from rankplug_documentation.reproduction import ORDER

EXHIBITS = "exhibits"
"""Folder of the papers' figures and tables beside the verdicts."""
LOOKS: Mapping[str, int] = {"full": 3}
"""Profile -> how often results were looked at while its number of trials was chosen; once where it is not named."""


def write_evidence(
    names: Sequence[str], profile: Profile, store: Store, folder: Path, exhibits: bool = True
) -> list[Path]:
    """Write the verdicts and exhibits of some studies on what a store has of a profile, and return the files.

    Args:
        names: of the studies; one that has no runs in the store is left as it is.
        profile: how large.
        store: where the results lie.
        folder: of the evidence.
        exhibits: also writes the figures and tables, of which the pages show one profile's.
    """
    written = []
    for one in map(study, names):
        try:
            results = one.results_there(profile, store=store)
        except NotRunError as error:
            print(f"left as it is: {error}")
            continue
        evaluation = evaluate(one, results)
        evidence = evidence_of(evaluation)
        notes = (note_of(one, results), note_of_looks(one, results, evidence))
        evidence = replace(evidence, note=" ".join(filter(None, notes)))
        written.append(folder / f"{one.name}-{profile}.json")
        evidence.write(written[-1])
        if exhibits:
            written.append(folder / EXHIBITS / f"{one.name}.json.gz")
            KeptExhibits.of(evaluation, store).write(written[-1])
        print(f"{one.name}: {evidence.in_short}. {evidence.note}".rstrip())
    if not written:
        raise RankplugError(f"{store.folder} has no runs of the profile {profile}; name another with --store")
    return written


def note_of(one: Study, results: Results) -> str:
    """Return what a reader must know of runs that are fewer than the profile's; empty where they are not."""
    levels: dict[str, list[Runs]] = {}
    for name, runs in one.runs_asked(read_profile(results.profile)).items():
        # Levels of one kind of noise are told together.
        together = f"{runs.kind} in the place of {runs.place}" if runs.kind and runs.level else name
        levels.setdefault(together, []).append(runs)
    fewer: dict[str, list[str]] = {}
    without: list[str] = []
    for name, several in levels.items():
        counts = [results.runs[runs.name].trials if runs.name in results.runs else 0 for runs in several]
        low, high, asked = min(counts), max(counts), several[0].trials
        if not high:
            without.append(name)
        elif low < asked:
            there = f"{low} to {high}" if low < high else f"{low}"
            fewer.setdefault(f"{there} of the profile's {asked} trials of", []).append(name)
    if not fewer:
        return f"Nothing of {', '.join(without)} was run for this." if without else ""
    parts = [f"{count} {', '.join(names)}" for count, names in fewer.items()]
    rest = f", and nothing of {', '.join(without)}" if without else ""
    return f"Only {' and '.join(parts)} were run for this{rest}."


def note_of_looks(one: Study, results: Results, evidence: StudyEvidence) -> str:
    """Return how many verdicts stand at the levels of several looks, where trials were added in view of results.

    Args:
        one: the study.
        results: of its runs.
        evidence: its verdicts, at the level of a single look.
    """
    looks = LOOKS.get(results.profile, 1)
    if looks == 1:
        return ""
    reached = {
        claim.id: claim.judgement.verdict
        for claim in evidence.claims
        if isinstance(claim.judgement, Verdict) and claim.judgement.decided
    }
    decided = [claim for claim in one.claims if claim.margin and claim.id in reached]
    strict = (claim.judge(results, steps=look_steps(looks)) for claim in decided)
    stand = sum(verdict.verdict == reached[claim.id] for claim, verdict in zip(decided, strict, strict=True))
    return (
        f"The number of trials was chosen in view of results, at {looks} looks at most: of {len(decided)} claims about"
        f" differences that are decided here, {stand} stay so where each look has an equal share of the level."
    )


def exhibits_in(folder: Path) -> Mapping[str, KeptExhibits]:
    """Return the exhibits that are kept in a folder of evidence, by study."""
    kept = map(KeptExhibits.read, sorted((folder / EXHIBITS).glob("*.json.gz")))
    return {one.study: one for one in kept}


def main(arguments: Sequence[str] | None = None) -> None:
    """Write what the command line asks for, and name the files."""
    parser = argparse.ArgumentParser(prog="python -m rankplug_documentation.evidence", description=__doc__)
    parser.add_argument("profile", help="size of the runs")
    parser.add_argument("names", nargs="*", default=ORDER, help="studies; all papers by default")
    parser.add_argument("--store", help="folder of results")
    parser.add_argument("--docs", type=Path, default=Path("docs"), help="folder of the documentation")
    parser.add_argument(
        "--verdicts", action="store_true", help="leave the figures and tables of another profile as they are"
    )
    asked = parser.parse_args(arguments)
    profile, store, folder = read_profile(asked.profile), Store.named(asked.store), asked.docs / "evidence"
    for path in write_evidence(asked.names, profile, store, folder, exhibits=not asked.verdicts):
        print(path)


if __name__ == "__main__":
    main()
