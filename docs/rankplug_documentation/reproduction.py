"""The pages about what reproduces, and the table in the README, all written from the evidence in ``docs/evidence``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from rankplug.studies import PROFILES, VERDICTS, Abstention, ClaimEvidence, StudyEvidence, Verdict
from rankplug_documentation.parameter_table import table
from rankplug_documentation.pictures.verdicts import write_verdict_pictures

ORDER = ("stochastic", "xendcg", "uniquerating", "logrank", "crossover")
OPEN = "Open"
"""Word before claims that are inconclusive."""
BEGIN, END = "<!-- results: written by make docs -->", "<!-- end of results -->"
HEAD = """# What reproduces

Made by `make docs` from the files in `docs/evidence`, which `rankplug reproduce` leaves in its report. Every verdict is
computed by [stated rules](verdicts.md); a sentence about verdicts on this page is written from those files or it is not
here. `quick` is what `make papers` runs in minutes; `full` has lists and trees of honest size. Both are made data whose
training and test queries each trial draws anew, so that a verdict is about data of that kind and about no collection.
The sizes of the profiles were settled in view of runs with fewer trials of the same seeds, so that the errors of the
rules hold for these designs, not for that choice. `study.run("quick", seed=1)` repeats all of it on other data.
"""


def evidence_in(folder: Path) -> dict[str, dict[str, StudyEvidence]]:
    """Return the evidence in a folder by study and profile, in the order of the papers and of the profiles.

    Claims of a study may lie in several files, where some of its groups were run on their own.
    """
    evidence: dict[str, dict[str, StudyEvidence]] = {}
    for piece in sorted(map(StudyEvidence.read, folder.glob("*.json")), key=lambda piece: -len(piece.claims)):
        profiles = evidence.setdefault(piece.study, {})
        profiles[piece.profile] = joined(profiles[piece.profile], piece) if piece.profile in profiles else piece
    names = sorted(evidence, key=lambda name: (ORDER.index(name) if name in ORDER else len(ORDER), name))
    return {
        name: {profile: evidence[name][profile] for profile in PROFILES if profile in evidence[name]} for name in names
    }


def joined(whole: StudyEvidence, part: StudyEvidence) -> StudyEvidence:
    """Return evidence with the claims that only a further file has, and with the runs behind them."""
    known = {claim.id for claim in whole.claims}
    further = tuple(claim for claim in part.claims if claim.id not in known)
    if not further:
        return whole
    return replace(
        whole,
        date=max(whole.date, part.date),
        trials=whole.trials + part.trials,
        core_minutes=round(whole.core_minutes + part.core_minutes, 1),
        data={**part.data, **whole.data},
        versions={**part.versions, **whole.versions},
        claims=(*whole.claims, *further),
    )


def labels_of(profiles: Mapping[str, StudyEvidence]) -> dict[str, str]:
    """Return the labels of all claims of a study by id, in the order of its page."""
    return {claim.id: claim.label for evidence in profiles.values() for claim in evidence.claims}


def reproduction_pages(docs: Path) -> dict[Path, str]:
    """Return the pages by path: the one of all papers, and one for each with the whole evidence."""
    evidence = evidence_in(docs / "evidence")
    pages = {docs / "reproduction.md": "\n".join(_overview(evidence))}
    for name, profiles in evidence.items():
        pages[docs / "evidence" / f"{name}.md"] = "\n".join(_whole_evidence(name, profiles))
    return pages


def readme_with_results(readme: str, docs: Path) -> str:
    """Return the README with its table of results written anew between the markers."""
    evidence = evidence_in(docs / "evidence")
    table = "\n".join([*_table_of_studies(evidence, "docs/reproduction.md"), *_noise_or_network(evidence)])
    before, rest = readme.split(BEGIN)
    return f"{before}{BEGIN}\n\n{table}\n{END}{rest.split(END)[1]}"


def write_reproduction(docs: Path) -> None:
    """Write the pages, the pictures of all claims, and the README's table."""
    for path, text in reproduction_pages(docs).items():
        path.write_text(text, encoding="utf-8")
    evidence = evidence_in(docs / "evidence")
    largest = {name: largest_whole(profiles) for name, profiles in evidence.items()}
    write_verdict_pictures(evidence, largest, docs / "images")
    readme = docs.parent / "README.md"
    if readme.exists():
        readme.write_text(readme_with_results(readme.read_text(encoding="utf-8"), docs), encoding="utf-8")


def _overview(evidence: Mapping[str, Mapping[str, StudyEvidence]]) -> Iterator[str]:
    yield HEAD
    yield "![Claims by verdict, a bar for each study and profile](images/verdicts.svg)\n"
    yield from _table_of_studies(evidence)
    for name, profiles in evidence.items():
        last = list(profiles.values())[-1]
        yield f"## {name}: {last.title}\n"
        yield f"![Every claim of {name}, its difference in units of the margin]" + f"(images/claims-{name}.svg)\n"
        yield (
            f"*A row for each claim at `{largest_whole(profiles).profile}`, with the difference and its interval in"
            " units of the margin that would matter; the thick interval decides. The claim's side is right, what is too"
            " small to matter lies in the band.*\n"
        )
        yield from in_words(profiles)
        yield from _verdicts(name, profiles)


def _table_of_studies(evidence: Mapping[str, Mapping[str, StudyEvidence]], page: str = "") -> Iterator[str]:
    rows = []
    totals: dict[str, list[StudyEvidence]] = {}
    for name, profiles in evidence.items():
        for profile, one in profiles.items():
            totals.setdefault(profile, []).append(one)
            link = f"[{name}]({page}#{_anchor(name, one.title)})"
            rows.append(_row(link, profile, one.counts.values(), one.decided, one.trials))
    for profile, several in totals.items():
        if len(several) == 1:
            continue
        counts = [sum(one.counts[word] for one in several) for word in several[0].counts]
        judged = sum(counts[:-1])
        decided = 1 - counts[VERDICTS.index("inconclusive")] / judged
        rows.append(_row(f"**all {len(several)}**", profile, counts, decided, sum(one.trials for one in several)))
    head = ("paper", "profile", "hold", "fail", "no difference", "inconclusive", "not judged", "decided", "trials")
    yield from table(head, rows)


def _noise_or_network(evidence: Mapping[str, Mapping[str, StudyEvidence]]) -> Iterator[str]:
    """Yield what noise gives and what the network gives, by part, from the largest profile to one that decides all."""
    for paper in reversed(list(evidence.get("stochastic", {}).values())):
        claims = [claim for claim in paper.claims if claim.exhibit == "Noise and network"]
        judged = [(claim, claim.judgement) for claim in claims if isinstance(claim.judgement, Verdict)]
        if judged:
            yield f"What the expected losses owe to noise and what to their network (`{paper.profile}`), in points:\n"
            for claim, verdict in judged:
                parts = (
                    f"{part.name} {part.effect:+.2f} [{part.low:+.2f}, {part.high:+.2f}]" for part in verdict.parts
                )
                yield f"- {claim.text.rstrip('.')}: **{verdict.verdict}**; {'; '.join(parts)}."
            yield ""
        if judged and all(verdict.decided for _, verdict in judged):
            return


def _row(name: str, profile: str, counts: Iterable[int], decided: float, trials: int) -> tuple[str, ...]:
    return (name, f"`{profile}`", *map(str, counts), f"{decided:.0%}", str(trials))


def _anchor(name: str, title: str) -> str:
    return re.sub(r"[^\w]+", "-", f"{name}: {title}".lower()).strip("-")


def in_words(profiles: Mapping[str, StudyEvidence]) -> Iterator[str]:
    """Yield what the verdicts come to, each sentence from the numbers of one profile."""
    yield from extents(profiles)
    for words, told in findings(profiles, most=5):
        if words == OPEN:
            yield from (f"- {OPEN}: {each}." for each in told)
        else:
            yield f"- {words}: {'; '.join(told)}."
    yield ""


def extents(profiles: Mapping[str, StudyEvidence]) -> Iterator[str]:
    """Yield how much was run of each profile, and how many claims have which verdict."""
    for each in profiles.values():
        note = f" {each.note}" if each.note else ""
        yield f"At `{each.profile}` ({each.date}, {each.trials} trials): {each.in_short}.{note}\n"


def findings(profiles: Mapping[str, StudyEvidence], most: int) -> Iterator[tuple[str, list[str]]]:
    """Yield what is said of some claims with their words, from the largest profile that was run as a whole.

    Args:
        profiles: the evidence of a study.
        most: claims of a verdict that are told, those with the largest differences.
    """
    one = largest_whole(profiles)
    judged = [claim for claim in one.claims if isinstance(claim.judgement, Verdict)]
    for word, words in (
        ("holds", "Shown, from the largest difference in margins on"),
        ("fails", "The opposite is shown of"),
        ("no difference", "Too small to matter"),
    ):
        told = sorted((claim for claim in judged if claim.judgement.verdict == word), key=_distance, reverse=True)
        by_chance = [claim for claim in told if not _exact(claim)]
        if by_chance:
            yield words, [f"{_short(claim)} ({claim.effect})" for claim in by_chance[:most]]
        exact = len(told) - len(by_chance)
        if exact:
            yield f"Exact checks of which the verdict is *{word}*", [str(exact)]
    still = [claim for claim in judged if claim.judgement.verdict == "inconclusive"]
    if still:
        yield OPEN, list(map(_what_it_needs, still))
    changed = list(_changes(profiles))
    if changed:
        yield "Verdicts that differ between the profiles", changed


def _what_it_needs(claim: ClaimEvidence) -> str:
    needs = claim.judgement.needs if isinstance(claim.judgement, Verdict) else None
    return f"{_short(claim)} ({claim.effect})" + (f"; {needs.sentence}" if needs else "")


def largest_whole(profiles: Mapping[str, StudyEvidence]) -> StudyEvidence:
    """Return the evidence of the largest profile that decides about as many claims as any."""
    given = list(profiles.values())
    decided = [
        sum(isinstance(claim.judgement, Verdict) and claim.judgement.decided for claim in one.claims) for one in given
    ]
    return next(
        one for one, count in zip(reversed(given), reversed(decided), strict=True) if count >= 0.9 * max(decided)
    )


def _changes(profiles: Mapping[str, StudyEvidence]) -> Iterator[str]:
    decided: dict[str, dict[str, str]] = {}
    for profile, evidence in profiles.items():
        for claim in evidence.claims:
            if isinstance(claim.judgement, Verdict) and claim.judgement.decided:
                decided.setdefault(claim.id, {})[profile] = claim.judgement.verdict
    labels = labels_of(profiles)
    for claim_id, words in decided.items():
        if len(set(words.values())) > 1:
            yield (
                f"{labels[claim_id].rstrip('.')} ("
                + ", ".join(f"{word} at {profile}" for profile, word in words.items())
                + ")"
            )


def _exact(claim: ClaimEvidence) -> bool:
    return isinstance(claim.judgement, Verdict) and claim.judgement.exact


def _distance(claim: ClaimEvidence) -> float:
    if not isinstance(claim.judgement, Verdict) or claim.judgement.exact:
        return 0.0
    return abs(claim.judgement.decisive.in_margins[0])


def _short(claim: ClaimEvidence) -> str:
    return claim.label.rstrip(".")


def _verdicts(name: str, profiles: Mapping[str, StudyEvidence]) -> Iterator[str]:
    """Yield a table with a line for each claim."""
    rows = []
    for claim_id, label in labels_of(profiles).items():
        cells = []
        for evidence in profiles.values():
            claim = next((claim for claim in evidence.claims if claim.id == claim_id), None)
            cells.append(f"**{claim.judgement.verdict}** {claim.effect}".strip() if claim else "")
        rows.append((f"[{label}](evidence/{name}.md#{claim_id})", *cells))
    yield from table(("claim", *(f"`{profile}`" for profile in profiles)), rows)


def _whole_evidence(name: str, profiles: Mapping[str, StudyEvidence]) -> Iterator[str]:
    """Yield the page of a study with every part of every claim."""
    last = list(profiles.values())[-1]
    yield f"# Evidence: {last.title}\n"
    yield f"{last.citation}. Made by `make docs` from `docs/evidence`; see [all papers](../reproduction.md).\n"
    for profile, evidence in profiles.items():
        versions = ", ".join(f"{package} {version}" for package, version in evidence.versions.items())
        data = ", ".join(f"`{dataset}`" for dataset in dict.fromkeys(evidence.data.values()))
        note = f" {evidence.note}" if evidence.note else ""
        yield f"`{profile}`, {evidence.date}: {evidence.trials} trials on {data}; {versions}.{note}\n"
    for claim_id, label in labels_of(profiles).items():
        yield f"## {label} {{ #{claim_id}{_in_contents(label)} }}\n"
        said = False
        for profile, evidence in profiles.items():
            claim = next((claim for claim in evidence.claims if claim.id == claim_id), None)
            if claim is None:
                continue
            if claim.margin and not said:
                yield f"Margin: {claim.margin}. {claim.reason}" + (
                    f" Shown by {claim.exhibit}.\n" if claim.exhibit else "\n"
                )
                said = True
            yield f"**{claim.judgement.verdict}** at `{profile}`:\n"
            clauses = [claim.judgement.reason] if isinstance(claim.judgement, Abstention) else claim.judgement.clauses
            yield "\n".join(f"- {_cell(clause)}" for clause in clauses[:30])
            if len(clauses) > 30:
                yield f"- and {len(clauses) - 30} more in the file"
            yield ""
    for evidence in profiles.values():
        if evidence.observations:
            yield f"## Observed at `{evidence.profile}`, without a test\n"
            yield "\n".join(f"- {_cell(sentence)} {_cell(told)}" for sentence, told in evidence.observations.items())
            yield ""


def _in_contents(sentence: str) -> str:
    """Return what a page's list of contents has for a heading with formulas, which it does not set."""
    return f' data-toc-label="{re.sub("[${}]", "", sentence)}"' if "$" in sentence else ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
