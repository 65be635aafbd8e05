"""The combinations that are not in these four papers, as a study."""

from __future__ import annotations

import pandas as pd

from rankplug.studies import Exhibit, Study
from rankplug_crossover.study import comparisons, pictures
from rankplug_crossover.study.claims import CLAIMS, FINDINGS, OBSERVATIONS
from rankplug_crossover.study.protocol import runs


def nothing_published() -> pd.DataFrame:
    """Return no rows, in the usual columns: the four papers print none of these numbers."""
    return pd.DataFrame(columns=["exhibit", "dataset", "model", "metric", "value", "half_width", "note"])


study = Study(
    name="crossover",
    title="Combinations that are not in these four papers",
    citation="every loss with every backend, with and without noise, beside the four papers' own",
    notebook="rankplug:notebooks/crossover.ipynb",
    runs=runs,
    exhibits=(
        Exhibit("Heat map", "Test quality of every combination", pictures.draw_heat_map),
        Exhibit(
            "Better than the papers",
            "New combinations against the best of the papers' own",
            comparisons.table_of_better,
        ),
        Exhibit("Ranks", "Which of the leading combinations are told apart", comparisons.draw_ranks_of_leaders),
        Exhibit(
            "Tuned", "Models of the papers, tuned by one protocol on several collections", comparisons.table_of_tuned
        ),
        Exhibit(
            "Tuned, ranks",
            "Ranks of the tuned models over collections",
            comparisons.draw_ranks_of_tuned,
            caption="Mean ranks by test NDCG@5, 1 to the best, in the colour of the model's paper. A bar joins models"
            " whose mean ranks differ by less than Nemenyi's critical difference.",
        ),
        Exhibit("Noise", "What Gumbel noise changes, loss by loss", pictures.draw_noise_effect),
        Exhibit(
            "Chosen on validation",
            "The combination that validation data choose, and each paper's",
            comparisons.table_of_choices,
        ),
    ),
    claims=CLAIMS,
    published=nothing_published,
    findings=FINDINGS,
    observations=OBSERVATIONS,
)
