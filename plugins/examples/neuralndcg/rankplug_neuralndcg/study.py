"""NeuralNDCG as a study: whom to cite, what it runs, its figures, its tables and its claims."""

from rankplug.studies import Citation, Exhibit, Study, read_published

from rankplug_neuralndcg.claims import CLAIMS
from rankplug_neuralndcg.exhibits import figure_1, table_1
from rankplug_neuralndcg.protocol import COLOURS, runs

FINDINGS = (
    "The claims are re-stated from the paper's public abstract and equations; its tables are not at hand, so no"
    " published number stands beside ours.",
    "The paper trains transformers on Web30K and Istella; here a small network is trained on made data up to the"
    " profile full, so that levels cannot be compared.",
    "The paper's second variant, with the transposed permutation, and NeuralNDCG for other cut-offs are not run.",
)

study = Study(
    name="neuralndcg",
    title="NeuralNDCG: Direct optimisation of a ranking metric via differentiable relaxation of sorting",
    citation=Citation(
        authors=("Przemysław Pobrotyn", "Radosław Białobrzeski"),
        title="NeuralNDCG: Direct optimisation of a ranking metric via differentiable relaxation of sorting",
        venue="arXiv",
        year=2021,
        url="https://arxiv.org/abs/2102.07831",
    ),
    notebook="rankplug_neuralndcg:notebooks/neuralndcg.ipynb",
    runs=runs,
    exhibits=(
        Exhibit("Table 1", "Test quality of the models", table_1),
        Exhibit("Figure 1", "Validation quality over epochs", figure_1),
    ),
    claims=CLAIMS,
    published=lambda: read_published("rankplug_neuralndcg"),
    findings=FINDINGS,
    colours=COLOURS,
)
