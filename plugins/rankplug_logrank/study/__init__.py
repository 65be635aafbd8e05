"""The paper as a study: what it runs, its figures and tables, its claims."""

from __future__ import annotations

from rankplug.studies import Citation, Exhibit, Study, read_published
from rankplug_logrank.study import accuracy, claims, identities, training, walks
from rankplug_logrank.study.claims import FINDINGS
from rankplug_logrank.study.protocol import COLOURS, MEASURES, runs

study = Study(
    name="logrank",
    title="Conditional models for non-smooth ranking loss functions",
    citation=Citation(
        authors=("Avinava Dubey", "Jinesh Machchhar", "Chiranjib Bhattacharyya", "Soumen Chakrabarti"),
        title="Conditional models for non-smooth ranking loss functions",
        venue="ICDM",
        year=2009,
        published_in="Proceedings of the 9th IEEE International Conference on Data Mining",
    ),
    notebook="rankplug:notebooks/logrank.ipynb",
    colours=COLOURS,
    runs=runs,
    exhibits=(
        Exhibit(
            "Figure 1", "Closed forms against sums over all sign matrices, relative errors", identities.draw_identities
        ),
        Exhibit("Figure 2", "The walk over rankings", walks.draw_walks),
        *(
            Exhibit(
                f"Figure 3 {measure}",
                f"{measure} on test data",
                accuracy.sub_table(measure),
                caption="The mean over folds, and in grey half of the 95 % t interval over queries. The best three of a"
                " column are shaded green, yellow and tan.",
            )
            for measure in MEASURES
        ),
        Exhibit("Figure 3 wins", "Cells of Figure 3 won, published and ours", accuracy.win_counts),
        Exhibit("Figure 4", "Test accuracy over the number of sampled rankings", accuracy.figure_4),
        Exhibit(
            "Figure 5",
            "Test accuracy over the mix of restarts",
            accuracy.figure_5,
            caption="Walks restart at the best ranking with this probability, else at the worst: does accuracy rise to"
            " the right? Marks are means over trials that draw their rankings anew, with 95 % t intervals.",
        ),
        Exhibit(
            "Figure 6",
            "Test accuracy over the skew of restarts",
            accuracy.figure_6,
            caption="Restarts among many states, with $\\Pr(y) \\propto e^{k\\Delta(y)}$: bad rankings to the left,"
            " good ones to the right, all alike at 0. Marks are means over trials that draw their rankings anew, with"
            " 95 % t intervals.",
        ),
        Exhibit("Figure 7", "Spread of Delta around three restarts", walks.draw_spread),
        Exhibit("Figure 8", "w.phi against Delta in the first iterations", training.figure_8),
        Exhibit("Section 5.3.4", "Exact and sampled objective in the course of training", training.objective_trace),
        Exhibit(
            "Equations 4 to 6",
            "Test accuracy of the expected loss, its logarithm and ExpGain, with fewer and more restarts",
            training.accuracy_of_objectives,
            digits=3,
        ),
        Exhibit("Section 2, conditioning", "Objectives of training lists before and after", training.conditioning),
        Exhibit("Section 4, walks", "L-BFGS where the sampled rankings depend on w", walks.draw_dependent_walks),
        Exhibit("Section 4, A2", "ConvexLoss less L3 of random lists", identities.draw_bounds),
    ),
    claims=claims.CLAIMS,
    published=lambda: read_published("rankplug_logrank.study"),
    findings=FINDINGS,
    observations=claims.OBSERVATIONS,
)
