"""The paper as a study: what it runs, its figures and tables, its claims."""

from __future__ import annotations

from rankplug.studies import Citation, Exhibit, Study, read_published
from rankplug_xendcg.study import claims, exhibits
from rankplug_xendcg.study.claims import FINDINGS
from rankplug_xendcg.study.exhibits import figure_of_noise
from rankplug_xendcg.study.protocol import COLOURS, WEB30K, YAHOO, runs

BOTH_PANELS = (
    " Test data stay clean. Above, both models; below, XE-NDCG's lead over lambdaMART: does it grow with the noise?"
    " Whiskers are 95 % intervals."
)
ADDED = "Every training list grows by documents of other queries, as irrelevant ones." + BOTH_PANELS
REDRAWN = "A share of each training list's labels is drawn anew." + BOTH_PANELS

study = Study(
    name="xendcg",
    title="An alternative cross entropy loss for learning-to-rank",
    citation=Citation(
        authors=("Sebastian Bruch",),
        title="An alternative cross entropy loss for learning-to-rank",
        venue="WWW",
        year=2021,
        published_in="Proceedings of the Web Conference 2021",
        doi="10.1145/3442381.3449794",
    ),
    notebook="rankplug:notebooks/xendcg.ipynb",
    colours=COLOURS,
    runs=runs,
    exhibits=(
        Exhibit("Table 1", "Test quality of the three losses", exhibits.table_1),
        Exhibit("Table 1, tests", "Paired tests between all models, raw and corrected", exhibits.table_1_tests),
        Exhibit("Published numbers", "What the paper prints, and where it was read", exhibits.published_numbers),
        Exhibit("Section 5.1", "Sizes of the data", exhibits.data),
        Exhibit(
            "Figure 1",
            "Validation quality as trees are added",
            exhibits.figure_1,
            caption="How far apart the two models are with few trees and with all of them, on validation data. A line"
            " is the mean over the trials, its band a 95 % t interval.",
        ),
        Exhibit(
            "Figure 2a",
            "Negative documents added, in the place of Web30K",
            figure_of_noise("negatives", WEB30K, letter="(a) "),
        ),
        Exhibit("Figure 2a, steps", "Changes between levels of negative documents", exhibits.steps_2a),
        Exhibit(
            "Figure 2b",
            "Negative documents added, in the place of Yahoo",
            figure_of_noise("negatives", YAHOO, letter="(b) "),
            caption=ADDED,
        ),
        Exhibit(
            "Figure 2c",
            "Labels drawn anew, in the place of Web30K",
            figure_of_noise("flips", WEB30K, letter="(c) "),
            caption=REDRAWN,
        ),
        Exhibit(
            "Figure 2d",
            "Labels drawn anew, in the place of Yahoo",
            figure_of_noise("flips", YAHOO, letter="(d) "),
            caption=REDRAWN,
        ),
        Exhibit("Figure 3", "Training on simulated clicks", figure_of_noise("clicks", WEB30K, YAHOO)),
        Exhibit("Gamma", "Gammas drawn anew for each tree, drawn once, or fixed", exhibits.table),
    ),
    claims=claims.CLAIMS,
    published=lambda: read_published("rankplug_xendcg.study"),
    findings=FINDINGS,
    observations=claims.OBSERVATIONS,
)
