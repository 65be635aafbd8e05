"""Links of pages lead somewhere, and pages of results show what the artefacts say."""

from __future__ import annotations

import re
from pathlib import Path

from rankplug_documentation.evidence import STUDIES, in_brief, read_evidence, results_page

ROOT = Path(__file__).parents[2]
GENERATED = {"which-loss.md", *(f"papers/{study}.md" for study in STUDIES)} | {
    f"reference/{name}.md" for name in ("plugins", "python", "commands", "hooks", "environment")
}
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)")


def test_links_of_readme_and_documentation_lead_to_files() -> None:
    tutorials = {f"tutorials/{path.stem}.md" for path in (ROOT / "notebooks" / "tutorials").glob("*.ipynb")}
    missing = []
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        for link in LINK.findall(page.read_text(encoding="utf-8")):
            target = (page.parent / link).resolve()
            inside = target.relative_to(ROOT / "docs").as_posix() if target.is_relative_to(ROOT / "docs") else ""
            if not target.exists() and inside not in GENERATED | tutorials:
                missing.append(f"{page.name}: {link}")
    assert not missing


def test_readme_counts_the_main_claims_of_the_artefacts() -> None:
    evidence = read_evidence(ROOT / "docs")
    page = results_page(evidence)
    for evaluations in evidence.values():
        for claim in evaluations["real"].claims:
            if (claim.role, claim.source) == ("main", "paper"):
                assert claim.text in page and claim.effect in page
    assert in_brief(evidence) in (ROOT / "README.md").read_text(encoding="utf-8")
