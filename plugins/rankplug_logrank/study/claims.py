"""The paper's claims, each with the statistic that gives evidence on it."""

from __future__ import annotations

from rankplug.studies import Claim, Margin, Observation, alike, greater
from rankplug_logrank.study.experiments import dependent_walks
from rankplug_logrank.study.experiments.comparisons import (
    LITTLE,
    NEAR_ONE,
    baselines_among_the_best,
    best_of,
    best_restarts_help,
    both_objectives_improve,
    further_restarts_add_nothing,
    half_of_the_cells,
    l3_among_the_best,
    loss_of_two_documents,
    more_rankings_help,
    most_cells,
    negative_skew_helps,
    objectives_without_training,
    of_dependent_walks,
    of_objectives,
    of_training_lists,
    ranks_better,
    restarts_are_needed,
    samples_saturate,
    scores_before_training,
    scores_dominate,
    spread_in_auc,
    spread_is_smaller_at_the_worst,
)
from rankplug_logrank.study.protocol import BASELINES, GAINS, MODELS
from rankplug_logrank.study.theory.exact_checks import (
    closed_form_is_over_rankings,
    convex_bounds_l3,
    convex_is_convex,
    convex_softens_the_hinge,
    exponential_bounds_expected,
    gap_is_an_eighth,
    identities_hold,
    l2_is_not_convex,
    l3_is_not_convex,
    small_changes_are_likelier,
    walk_stays_among_rankings,
)

POINTS = Margin(0.005, "Half a point of accuracy.", scale=100, unit="points")
OVER_THE_AXIS = Margin(
    0.005, "Half a point of accuracy between the ends of the figure's axis.", scale=100, unit="points"
)
OF_DELTA = Margin(0.01, "A hundredth of the range of Delta, less than half a bin of the histograms.")
OF_THE_LOSS = Margin(0.01, "A hundredth of the loss at w = 0.", scale=100, unit="% of the loss at w = 0")
OF_CELLS = Margin(0.1, "A tenth of the cells, three of 32.", scale=100, unit="% of the cells")
OF_RUNS = Margin(0.1, "A tenth of the runs.", scale=100, unit="% of the runs")
CLAIMS = (
    Claim(
        "Section 2: with f = e^x, (4) is a lower bound of (5).",
        exponential_bounds_expected,
        "Section 4, A2",
    ),
    Claim(
        "Section 2: (4) and (5) give similar ranking measures.",
        lambda results: alike(of_objectives(results, "LogExp", "L2")),
        "Equations 4 to 6",
        POINTS,
    ),
    Claim(
        "Section 2: before training, the expected loss of a query is close to 1 (.9 or more over random orders).",
        of_training_lists("random orders", NEAR_ONE),
        "Section 2, conditioning",
        OF_DELTA,
        control=loss_of_two_documents,
    ),
    Claim(
        "Section 2: trained itself, the expected loss (4) drops by a very small quantity (a tenth or less).",
        of_training_lists("trained", LITTLE),
        "Section 2, conditioning",
        OF_DELTA,
        control=of_training_lists("at w = 0", LITTLE),
    ),
    Claim(
        "Section 2: the logarithm of the gain, (6), trains better than the expected loss, (4).",
        lambda results: greater(of_objectives(results, "ExpGain", "L2")),
        "Equations 4 to 6",
        POINTS,
    ),
    Claim(
        "Section 2: the restarts are adequate; three times as many rank alike.",
        further_restarts_add_nothing,
        "Equations 4 to 6",
        POINTS,
    ),
    Claim(
        "Not in the paper: with restarts ExpGain ranks better than from w = 0 alone.",
        restarts_are_needed,
        "Equations 4 to 6",
        POINTS,
    ),
    Claim(
        "Section 4: with rankings drawn by the current w, L-BFGS ends before it converges (to 1 % of the gradient).",
        of_dependent_walks("not converged", dependent_walks.BY_LAW, dependent_walks.ONCE),
        "Section 4, walks",
        OF_RUNS,
        control=of_dependent_walks("not converged", dependent_walks.ONCE, dependent_walks.ONCE),
    ),
    Claim(
        "Not in the paper: rankings drawn once before training give a better training MAP than such by the current w.",
        of_dependent_walks("training MAP", dependent_walks.ONCE, dependent_walks.BY_LAW),
        "Section 4, walks",
        POINTS,
        control=of_dependent_walks("training MAP", dependent_walks.ONCE, dependent_walks.ONCE),
    ),
    Claim("The sums over sign matrices have closed forms.", identities_hold, "Figure 1"),
    Claim(
        "Section 2: with them, the losses for AUC are expectations over rankings.",
        closed_form_is_over_rankings,
        "Figure 1",
    ),
    Claim("The walk changes one pair at a time and stays among rankings.", walk_stays_among_rankings, "Figure 2"),
    Claim("Section 4: flips that change Delta less are the likelier ones.", small_changes_are_likelier, "Figure 2"),
    Claim("Section 3: ConvexLoss is convex.", convex_is_convex, "Section 4, A2"),
    Claim(
        "Section 3: L2, with Equation 11 as it is reconstructed here, is not convex.", l2_is_not_convex, "Section 4, A2"
    ),
    Claim(
        "Section 3: L3, with Equation 11 as it is reconstructed here, is not convex.", l3_is_not_convex, "Section 4, A2"
    ),
    Claim("Section 3: ConvexLoss bounds L3 from above.", convex_bounds_l3, "Section 4, A2"),
    Claim("Not in the paper: the bound is within 1/8 for every query.", gap_is_an_eighth, "Section 4, A2"),
    Claim(
        "Section 3: ConvexLoss is the soft maximum of the structured hinge.", convex_softens_the_hinge, "Section 4, A2"
    ),
    *(
        Claim(
            f"Section 5.2: {better} ranks better than {worse}.", ranks_better([(better, worse)]), "Figure 3 MAP", POINTS
        )
        for better, worse in (
            ("ExpGain_NDCG", "MLE"),
            ("ExpGain_MAP", "SVM-MAP"),
            ("ExpGain_AUC", "RankSVM"),
            ("Convex_MAP", "SVM-MAP"),
            ("Convex_AUC", "RankSVM"),
            ("Convex_NDCG", "MLE"),
            ("Convex_NDCG", "ExpGain_NDCG"),
        )
    ),
    Claim(
        "Section 5.2: Convex_NDCG ranks better than all baselines.",
        best_of("Convex_NDCG", BASELINES),
        "Figure 3 MAP",
        POINTS,
    ),
    Claim(
        "Section 5.2: Convex_NDCG is the best method of all.",
        best_of("Convex_NDCG", tuple(model for model in MODELS if model != "Convex_NDCG")),
        "Figure 3 MAP",
        POINTS,
    ),
    Claim(
        "Not in the paper: ConvexLoss ranks better than L3 (Section 5.2: it is the best more often).",
        ranks_better([(f"Convex_{gain}", f"L3_{gain}") for gain in GAINS], ("MAP",)),
        "Figure 3 MAP",
        POINTS,
    ),
    Claim(
        "Section 5.2: MLE beats all baselines in half of the cells (16 of 32).",
        half_of_the_cells,
        "Figure 3 wins",
        OF_CELLS,
    ),
    *(
        Claim(
            f"Section 5.2: {model} {statement} in most cells ({count} of 32).",
            most_cells(model, statement),
            "Figure 3 wins",
            OF_CELLS,
        )
        for model, statement, count in (
            ("ExpGain", "is the best", 26),
            ("ExpGain", "beats MLE", 21),
            ("ConvexLoss", "is the absolute best", 26),
            ("ConvexLoss", "beats MLE", 29),
            ("ConvexLoss", "beats ExpGain", 25),
        )
    ),
    Claim("Accuracy grows with the number of sampled rankings.", more_rankings_help, "Figure 4", OVER_THE_AXIS),
    Claim("Accuracy is close to saturation at the largest sizes.", samples_saturate, "Figure 4", POINTS),
    Claim(
        "Restarts at the best ranking give better accuracy than at the worst.", best_restarts_help, "Figure 5", POINTS
    ),
    Claim("A skew towards Delta = 0 is better than one towards Delta = 1.", negative_skew_helps, "Figure 6", POINTS),
    Claim(
        "In MAP and NDCG, walks spread less around Delta = 1 than around 0.",
        spread_is_smaller_at_the_worst,
        "Figure 7",
        OF_DELTA,
        control=spread_in_auc,
    ),
    Claim(
        "Once training has begun, |w.phi| dominates Delta.",
        scores_dominate,
        "Figure 8",
        Margin(0.1, "A tenth of Delta's range."),
        control=scores_before_training,
    ),
    Claim(
        "The exact and the sampled objective both improve in training.",
        both_objectives_improve,
        "Section 5.3.4",
        OF_THE_LOSS,
        control=objectives_without_training,
    ),
)
OBSERVATIONS = (
    Observation("Section 5.2: how rarely the baselines are the best.", baselines_among_the_best, "Figure 3 wins"),
    Observation("Section 5.2: in how many cells L3 is the best, and ConvexLoss.", l3_among_the_best, "Figure 3 wins"),
)
