"""Pages of the committed evidence, ``docs/evidence/<study>-<profile>/verdicts.json``: every claim with its verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import yaml

from rankplug.studies import ClaimEvaluation, Evaluation, Verdict
from rankplug_documentation.reference import table

STUDIES = ("logrank", "uniquerating", "stochastic", "xendcg", "crossover", "letor2")
"""Papers in order of publication, then the cross-comparison and LETOR's baselines."""
SIMULATIONS = ("full", "quick")
"""Profiles on synthetic data, the largest first."""
Evidence = Mapping[str, Mapping[str, Evaluation]]

RESULTS_HEAD = """# What reproduces

Generated from the verdicts in `docs/evidence`, which `rankplug reproduce` writes. A verdict is computed by [stated
rules](verdicts.md); differences are shown with their intervals. *Real data* are public collections (profile `real`);
*simulation* is synthetic data of the profile `full`, or `quick` where `full` has no verdict.
"""


def read_evidence(docs: Path) -> Evidence:
    """Return the evaluations of all studies by study and profile."""
    evidence: dict[str, dict[str, Evaluation]] = {}
    for study in STUDIES:
        folders = sorted((docs / "evidence").glob(f"{study}-*"))
        evaluations = [Evaluation.read(folder) for folder in folders if Evaluation.is_in(folder)]
        evidence[study] = {evaluation.meta.profile: evaluation for evaluation in evaluations}
    return evidence


def claims_of(evaluations: Mapping[str, Evaluation]) -> dict[str, ClaimEvaluation]:
    """Return the claims of a study by id, in the order of its profile with the most claims."""
    longest = max(evaluations.values(), key=lambda evaluation: len(evaluation.claims))
    return {claim.id: claim for claim in longest.claims}


def verdicts(evaluations: Mapping[str, Evaluation], claim_id: str) -> Iterator[tuple[str, ClaimEvaluation]]:
    """Yield profile and evaluation of a claim wherever it was judged, real data first."""
    for profile in ("real", *SIMULATIONS):
        for claim in evaluations[profile].claims if profile in evaluations else ():
            if claim.id == claim_id and isinstance(claim.judgement, Verdict):
                yield profile, claim


def in_simulation(judged: Mapping[str, ClaimEvaluation]) -> ClaimEvaluation | None:
    """Return a claim's evaluation at the largest simulated profile with a verdict."""
    return next((judged[profile] for profile in SIMULATIONS if profile in judged), None)


def claims_table(study: str, evaluations: Mapping[str, Evaluation], role: str, source: str) -> list[str]:
    """Return a table of the claims of a role and source: rows are claims, columns real data and simulation."""

    def words(claim: ClaimEvaluation | None) -> str:
        return f"**{claim.judgement.verdict}** {claim.effect}".rstrip() if claim else "not run"

    rows = []
    for claim in claims_of(evaluations).values() if evaluations else ():
        if (claim.role, claim.source) == (role, source):
            judged = dict(verdicts(evaluations, claim.id))
            link = f"[{claim.text}](papers/{study}.md#{claim.id})"
            rows.append((link, claim.section, words(judged.get("real")), words(in_simulation(judged))))
    return table(("claim", "section", "real data", "simulation"), rows)


def results_page(evidence: Evidence) -> str:
    """Return the page of all results."""
    lines = [RESULTS_HEAD]
    for title, role, source in (
        ("Main claims of the papers", "main", "paper"),
        ("Details of the papers", "detail", "paper"),
        ("Our own claims", "main", "ours"),
        ("Details of our own", "detail", "ours"),
    ):
        lines += [f"## {title}", ""]
        for study, evaluations in evidence.items():
            if rows := claims_table(study, evaluations, role, source):
                if (role, source) == ("main", "paper"):
                    meta = next(iter(evaluations.values())).meta
                    lines += [f"### {meta.title}", "", f"{meta.citation} (study `{study}`)", "", *rows]
                else:
                    lines += [f"### {title}: {study}", "", *rows]
    runs = [
        (study, f"`{profile}`", str(evaluation.meta.trials), evaluation.meta.date, evaluation.meta.note)
        for study, evaluations in evidence.items()
        for profile, evaluation in evaluations.items()
    ]
    return "\n".join([*lines, "## What was run", "", *table(("study", "profile", "trials", "date", "note"), runs)])


def study_page(study: str, evaluations: Mapping[str, Evaluation], idea: str) -> str:
    """Return a study's page: the idea of its notebook and every claim with the verdict of each profile."""
    meta = next(iter(evaluations.values())).meta
    lines = [f"# {meta.title}", "", f"{meta.citation}.", "", idea, "", "## Claims", ""]
    for claim in claims_of(evaluations).values():
        place = f"{claim.section}, {claim.role} claim" if claim.source == "paper" else f"our own {claim.role} claim"
        lines += [f"### {claim.words} {{ #{claim.id} }}", "", f"{place[:1].upper()}{place[1:]}."]
        lines += [f"Margin: {claim.margin}. {claim.reason}"] if claim.margin else []
        rows = []
        for profile, judged in verdicts(evaluations, claim.id):
            judgement = judged.judgement
            assert isinstance(judgement, Verdict)
            parts = "; ".join(
                f"{part.name} {part.effect:+.2f} [{part.low:+.2f}, {part.high:+.2f}]" for part in judgement.parts
            )
            rows.append((f"`{profile}`", f"**{judgement.verdict}**", judged.effect, parts))
        lines += [
            "",
            *(table(("profile", "verdict", "effect", "parts"), rows) or ["Not judged at any profile run.", ""]),
        ]
    return "\n".join(lines)


WHICH_LOSS_HEAD = """# Which loss should I use?

Generated from the verdicts in `docs/evidence`. Each question has the claims that bear on it, whatever their outcome,
on real data first. Simulation is one kind of data. Ask again on yours: `rankplug sweep 'loss=[lambdarank,xe_ndcg]'
backend=lightgbm 'dataset=letor-file[path=...]'`.

"""


def which_loss_page(evidence: Evidence) -> str:
    """Return the page that answers which loss to use."""
    questions = yaml.safe_load(Path(__file__).with_name("which_loss.yaml").read_text(encoding="utf-8"))
    lines = []
    for question in questions:
        losses = ", ".join(f"[`{name}`](losses.md#{name})" for name in question["losses"])
        lines += [f"## {question['question']}", "", f"Losses: {losses}.", ""]
        rows = []
        for study, ids in question["claims"].items():
            known = claims_of(evidence[study])
            for claim_id in ids:
                claim = known[claim_id]
                found = list(verdicts(evidence[study], claim_id)) or [("not run", claim)]
                for profile, judged in found:
                    link = f"[{claim.text}](papers/{study}.md#{claim_id})"
                    rows.append((link, f"`{profile}`", f"**{judged.judgement.verdict}**", judged.effect))
        lines += table(("claim", "profile", "verdict", "effect"), rows)
    return WHICH_LOSS_HEAD + "\n".join(lines)


def count_words(claims: list[ClaimEvaluation | None]) -> str:
    """Return the counts of verdicts in words, those without a verdict as not run.

    >>> count_words([None, None])
    '2 not run'
    """
    counts: Counter[str] = Counter("not run" if claim is None else claim.judgement.verdict for claim in claims)
    order = ("holds", "fails", "no difference", "inconclusive", "not run")
    words = {"holds": "hold", "fails": "fail", "no difference": "make no difference", "inconclusive": "inconclusive"}
    return ", ".join(f"{counts[name]} {words.get(name, name)}" for name in order if counts[name])


def in_brief(evidence: Evidence) -> str:
    """Return a list with the papers and the verdicts on their main claims, on real data and in simulation."""
    lines = []
    for evaluations in evidence.values():
        main = [claim for claim in claims_of(evaluations).values() if (claim.role, claim.source) == ("main", "paper")]
        if main:
            found = [dict(verdicts(evaluations, claim.id)) for claim in main]
            real = count_words([judged.get("real") for judged in found])
            simulated = count_words([in_simulation(judged) for judged in found])
            meta = next(iter(evaluations.values())).meta
            lines.append(f"- *{meta.title}* ({len(main)} main claims). Real data: {real}. Simulation: {simulated}.")
    return "\n".join(lines)


BEGIN, END = "<!-- main claims -->", "<!-- /main claims -->"


def fill_in_brief(page: Path, evidence: Evidence) -> None:
    """Replace the text between the two comments of README by the papers with their verdicts in brief."""
    before, rest = page.read_text(encoding="utf-8").split(BEGIN)
    after = rest.split(END)[1]
    page.write_text(f"{before}{BEGIN}\n{in_brief(evidence)}\n{END}{after}", encoding="utf-8")
