"""The pages about what reproduces say what the evidence says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from rankplug_documentation.reproduction import (
    evidence_in,
    in_words,
    reproduction_pages,
)

from rankplug.errors import RankplugError
from rankplug.studies import StudyEvidence

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = reproduction_pages(DOCS)
EVIDENCE = evidence_in(DOCS / "evidence")


def test_the_pictures_of_the_pages_are_small():
    assert sum(path.stat().st_size for path in (DOCS / "images").rglob("*")) < 5e6


def test_evidence_is_read_as_it_was_written(tmp_path):
    for profiles in EVIDENCE.values():
        for evidence in profiles.values():
            evidence.write(tmp_path / "again.json")
            assert StudyEvidence.read(tmp_path / "again.json").describe() == evidence.describe()


def test_a_changed_verdict_changes_the_page(tmp_path):
    (name, profiles), *_ = EVIDENCE.items()
    evidence = next(iter(profiles.values()))
    text = (DOCS / "evidence" / f"{name}-{evidence.profile}.json").read_text(encoding="utf-8")
    (tmp_path / "evidence").mkdir()
    changed = text.replace('"verdict": "holds"', '"verdict": "fails"', 1)
    (tmp_path / "evidence" / f"{name}-{evidence.profile}.json").write_text(changed, encoding="utf-8")
    pages = reproduction_pages(tmp_path)
    assert PAGES[DOCS / "evidence" / f"{name}.md"] != pages[tmp_path / "evidence" / f"{name}.md"]


def test_claims_in_several_files_are_joined_and_none_is_taken_twice(tmp_path):
    evidence = EVIDENCE["stochastic"]["quick"]
    first, *rest = evidence.claims
    replace(evidence, claims=tuple(rest), trials=3).write(tmp_path / "stochastic-quick.json")
    replace(evidence, claims=(first, rest[0]), trials=2).write(tmp_path / "stochastic-quick-part.json")
    joined = evidence_in(tmp_path)["stochastic"]["quick"]
    assert [claim.id for claim in joined.claims] == [claim.id for claim in (*rest, first)]
    assert joined.trials == 5
    replace(evidence, claims=tuple(rest[:2]), trials=2).write(tmp_path / "stochastic-quick-part.json")
    assert evidence_in(tmp_path)["stochastic"]["quick"].trials == 3


def test_a_profile_that_was_run_in_part_does_not_speak_for_the_paper():
    full = EVIDENCE["stochastic"]["full"]
    part = replace(full, profile="real", claims=full.claims[-3:], note="")
    told, with_part = (list(in_words(one)) for one in ({"full": full}, {"full": full, "real": part}))
    assert told[1:] == with_part[2:] and with_part[1].startswith("At `real`")
    whole = replace(
        full,
        profile="real",
        claims=tuple(replace(one, text=f"On real data: {one.text}") for one in full.claims),
    )
    assert "On real data" in "".join(in_words({"full": full, "real": whole}))


def test_what_is_no_evidence_is_refused_with_its_name(tmp_path):
    (tmp_path / "made-quick.json").write_text("{}")
    with pytest.raises(RankplugError, match=r"made-quick\.json is no evidence of a study"):
        evidence_in(tmp_path)
