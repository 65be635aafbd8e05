"""The page "Which loss should I use?": questions, answered by the verdicts that the evidence has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import yaml

from rankplug.studies import ClaimEvidence, StudyEvidence, Verdict
from rankplug_documentation.parameter_table import table
from rankplug_documentation.reproduction import evidence_in

HEAD = """# Which loss should I use?

Made by `make docs` from the verdicts in `docs/evidence`. Each question has the claims of studies that bear on it,
whichever way they came out, by [stated rules](verdicts.md): a claim *holds*, or *fails* where the opposite is shown;
*no difference* is one too small to matter, by the margin on the claim's page; *inconclusive* is not known yet. Of
several profiles the largest that decided a claim counts, and where none did the largest that judged it. Profiles but
`real` are made data, which is one kind of data. Ask again on yours:
`rankplug sweep 'loss=[lambdarank,xe_ndcg]' backend=lightgbm 'dataset=letor-file[path=...]'`.
"""
WORDS = {"holds": "shown", "fails": "the opposite is shown of", "no difference": "too small to matter"}


@dataclass(frozen=True)
class Answer:
    """A claim that bears on a question.

    Args:
        study: that judged it.
        profile: the largest at which it was decided, else at which it was judged, else at which it was asked.
        claim: with its verdict.
    """

    study: str
    profile: str
    claim: ClaimEvidence

    @property
    def verdict(self) -> str:
        """The verdict, or why there is none."""
        return self.claim.judgement.verdict


def questions() -> list[dict[str, Any]]:
    """Return the questions with their losses and claims."""
    found: list[dict[str, Any]] = yaml.safe_load(
        resources.files("rankplug_documentation").joinpath("which_loss.yaml").read_text(encoding="utf-8")
    )
    return found


def which_loss_page(docs: Path) -> str:
    """Return the page."""
    evidence = evidence_in(docs / "evidence")
    answered = [(question, list(_answers(question["claims"], evidence))) for question in questions()]
    rows = [(f"[{one['question']}](#{_anchor(one['question'])})", *_in_short(found)) for one, found in answered]
    lines = [HEAD, *table(("question", "the largest difference that is decided", "decided"), rows)]
    for one, found in answered:
        lines.append(f"## {one['question']}\n")
        lines.append(f"Losses: {', '.join(f'[`{name}`](losses.md#{name})' for name in one['losses'])}.\n")
        lines += table(("claim", "verdict", "difference", "profile"), map(_row, found))
    return "\n".join(lines)


def _answers(
    claims: Mapping[str, Sequence[str]], evidence: Mapping[str, Mapping[str, StudyEvidence]]
) -> Iterator[Answer]:
    for study, ids in claims.items():
        for claim_id in ids:
            asked = [
                Answer(study, profile, claim)
                for profile, one in evidence[study].items()
                for claim in one.claims
                if claim.id == claim_id
            ]
            judged = [answer for answer in asked if isinstance(answer.claim.judgement, Verdict)]
            decided = [answer for answer in judged if answer.verdict in WORDS]
            yield (decided or judged or asked)[-1]


def _in_short(answers: Sequence[Answer]) -> tuple[str, str]:
    """Return the decided claim whose difference is most margins, and how many are decided."""
    judged = [answer for answer in answers if isinstance(answer.claim.judgement, Verdict)]
    decided = [one for one in judged if one.verdict in WORDS]
    share = f"{len(decided)} of {len(judged)}"
    if not decided:
        return "none yet", share
    largest = max(decided, key=_margins)
    return f"{WORDS[largest.verdict]}: {largest.claim.label.rstrip('.')} ({largest.claim.effect})", share


def _margins(answer: Answer) -> float:
    verdict = answer.claim.judgement
    return abs(verdict.decisive.in_margins[0]) if isinstance(verdict, Verdict) else 0.0


def _row(answer: Answer) -> tuple[str, ...]:
    link = f"[{answer.claim.label}](evidence/{answer.study}.md#{answer.claim.id})"
    return link, f"**{answer.verdict}**", answer.claim.effect, f"`{answer.profile}`"


def _anchor(heading: str) -> str:
    return heading.lower().replace(",", "").replace("?", "").replace(" ", "-")
