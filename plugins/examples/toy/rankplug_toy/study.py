"""The paper as a study: whom to cite, what it runs, its figures, its tables and its claims."""

from rankplug.studies import Citation, Exhibit, Study, read_published

from rankplug_toy.claims import CLAIMS
from rankplug_toy.exhibits import figure_1, table_1
from rankplug_toy.protocol import COLOURS, runs

FINDINGS = ("This paper is a fictitious example of a study, and its published numbers are invented.",)

study = Study(
    name="toy",
    title="A toy paper",
    citation=Citation(
        authors=("Nobody in Particular",),
        title="A toy paper",
        venue="No venue",
        year=2026,
    ),
    notebook="rankplug_toy:notebooks/toy.ipynb",
    runs=runs,
    exhibits=(
        Exhibit("Table 1", "Test quality of the models, beside the published numbers", table_1),
        Exhibit("Figure 1", "Validation quality as trees are added", figure_1),
    ),
    claims=CLAIMS,
    published=lambda: read_published("rankplug_toy"),
    findings=FINDINGS,
    colours=COLOURS,
)
