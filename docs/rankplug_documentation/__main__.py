"""Write the generated pages that README links to: losses with their pictures, results, and results in brief."""

from __future__ import annotations

from pathlib import Path

from rankplug_documentation.evidence import fill_in_brief, read_evidence, results_page
from rankplug_documentation.losses import write_loss_pages

docs = Path("docs")
evidence = read_evidence(docs)
write_loss_pages(docs)
(docs / "reproduction.md").write_text(results_page(evidence), encoding="utf-8")
fill_in_brief(Path("README.md"), evidence)
