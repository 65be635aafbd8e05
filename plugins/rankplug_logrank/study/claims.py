"""The paper's claims, and its known errors and gaps."""

from __future__ import annotations

import numpy as np

from rankplug.studies import Claim, Margin, Observation, Role, Source, alike, exact_check, greater
from rankplug_logrank.study import evidence, walks
from rankplug_logrank.study.evidence import FEW_GOOD, LITTLE, NEAR_ONE, TOLERANCE, of_bounds
from rankplug_logrank.study.identities import (
    OVER_ALL,
    OVER_RANKINGS,
    RANDOM_LISTS,
    bound_frame,
    largest_bend,
    largest_error,
)
from rankplug_logrank.study.protocol import BASELINES, GAINS, MODELS

FINDINGS = (
    "A1. L3 is said to be non-convex in general. With Equation 11 as it is reconstructed here and Delta between 0 and 1"
    " it is convex: the second derivative along v is E[(1 + Delta - E Delta)(v.(dphi - E dphi))^2], and"
    " 1 + Delta - E Delta is never negative. It stops being convex only if Delta is scaled up, by 20 for example."
    " ExpGain is not convex.",
    "A2. So 0 <= ConvexLoss - L3 <= 1/8 for every query (Hoeffding), and far less once scores are large. A clear gap"
    " in accuracy between the two, as the paper reports, can hardly come from the objectives; optimisation or"
    " sampling must have differed.",
    "A3. ConvexLoss is the soft maximum of the structured hinge (1): the hinge bounds it from below, the hinge plus"
    " the logarithm of the number of rankings from above.",
    "A4. That the expectation of Delta is below log E[exp(Delta)] is Jensen's inequality, and correct.",
    "The closed forms for AUC sum over all 2^m sign matrices, cyclic ones included, though the text notes that not"
    " all of them are rankings. They equal the sum over rankings only where one class has a single document. Closed"
    " and sampled objectives are therefore never compared in value; ExpGain_AUC, L3_AUC, Convex_AUC and MLE use the"
    " closed form.",
    "Equation 4, the expected loss under (3), and Equation 11, L2 under (9), are one objective, as (3) and (9) are one"
    " law. (5) with f = e^x is ConvexLoss without its likelihood term.",
    "A5. The index of the pair to flip runs to n+ n- inclusive in the text; it is drawn from 0 to n+ n- - 1.",
    "The probability of a flip as far as it can be reconstructed, K / (n+ + n-), is 0 for every pair of the best and"
    " of the worst ranking, which are the restarts: the walk could never begin. Here it is (K + 1) / (n+ + n-).",
    "'A symmetric argument' for good documents below bad ones makes flips the likelier the more they change"
    " Delta_MAP, against the stated aim. The other reading, branch=local, keeps to the aim; both are parameters of"
    " the losses.",
    "Literally averaging over a sample that does not depend on w would drop the law of rankings from the objective."
    " All sums over rankings are replaced by sums over the sample, with the law renormalised on it. The ideal ranking"
    " always belongs to the sample, or the likelihood would have no bound; each ranking is kept once.",
    "A7. The feature map has no factor 1/(n+ n-), so w.phi grows with the lists, and C with it; divide_by_pairs=true"
    " puts the factor in.",
    "A8. The number of restarts for ExpGain is not given: w = 0 and 9 draws of N(0, 1/dimension) in the profiles"
    " real and paper. Nor are the number of rankings (200), the length of walks (20 flips), the cut-off of Delta_NDCG"
    " (10), the grid of C (0.001 to 10,000) and the scaling of features (LETOR's for .Gov, minimum and maximum of the"
    " query elsewhere).",
    "The 575 queries of the text are those of the six .Gov sets; with OHSUMED's 106 there are 681. Microaverages"
    " weigh data sets by the test queries there are.",
    "ExpGain is 'the best' in 26 cells of 32 and ConvexLoss 'the absolute best' in 26: that can only mean two"
    " comparisons. ExpGain is set against the baselines, ConvexLoss against everything else.",
    "The numbers of Figures 3 to 8 are missing from the available text, so only the counts of cells stand beside"
    " ours. The paper quotes BoltzRank and ListNet from others, for two data sets and uncleaned. Here they are trained"
    " on the same data as all others, linear and with C from the validation part; cells are counted without them, as"
    " the paper has them in two of eight columns.",
    "The paper tests no difference. Verdicts here are paired t tests over test queries (accuracy) or over trials"
    " (sampler).",
)


POINTS = Margin(0.005, "Half a point of accuracy.", scale=100, unit="points")
OVER_THE_AXIS = Margin(
    0.005, "Half a point of accuracy between the ends of the figure's axis.", scale=100, unit="points"
)
OF_DELTA = Margin(0.01, "A hundredth of the range of Delta, less than half a bin of the histograms.")
OF_THE_LOSS = Margin(0.01, "A hundredth of the loss at w = 0.", scale=100, unit="% of the loss at w = 0")
OF_CELLS = Margin(0.1, "A tenth of the cells, three of 32.", scale=100, unit="% of the cells")
OF_RUNS = Margin(0.1, "A tenth of the runs.", scale=100, unit="% of the runs")
PAIRS: tuple[tuple[str, str, Source], ...] = (
    ("ExpGain_NDCG", "MLE", "ours"),
    ("ExpGain_MAP", "SVM-MAP", "paper"),
    ("ExpGain_AUC", "RankSVM", "paper"),
    ("Convex_MAP", "SVM-MAP", "paper"),
    ("Convex_AUC", "RankSVM", "paper"),
    ("Convex_NDCG", "MLE", "ours"),
    ("Convex_NDCG", "ExpGain_NDCG", "paper"),
)
"""Models that a claim compares, the better one first, and who makes it."""
COUNTS: tuple[tuple[str, str, str, int, Role], ...] = (
    ("expgain-is-the-best", "ExpGain", "is the best", 26, "main"),
    ("expgain-beats-mle", "ExpGain", "beats MLE", 21, "main"),
    ("convex-loss-is-the-best", "ConvexLoss", "is the absolute best", 26, "main"),
    ("convex-loss-beats-mle", "ConvexLoss", "beats MLE", 29, "detail"),
    ("convex-loss-beats-expgain", "ConvexLoss", "beats ExpGain", 25, "main"),
)
"""Counts of cells in the text: id of the claim, family, statement, cells of 32, role."""
CLAIMS = (
    Claim(
        "expected-loss-bounds-its-logarithm",
        "With f = e^x, (4) is a lower bound of (5).",
        exact_check(
            f"least of (5) less (4), {RANDOM_LISTS} random lists",
            of_bounds("logrank_exponential", "logrank_l2", "min"),
            at_least=-TOLERANCE,
            control=lambda: float((np.log(bound_frame()["logrank_l2"]) - bound_frame()["logrank_l2"]).min()),
            control_of="with f(x) = x",
        ),
        "Section 4, A2",
        section="Section 2",
    ),
    Claim(
        "expected-losses-rank-alike",
        "Minimizing either (4) or (5) yields similar ranking measures.",
        lambda results: alike(evidence.of_objectives(results, "LogExp", "L2")),
        "Equations 4 to 6",
        POINTS,
        section="Section 2",
    ),
    Claim(
        "expected-loss-starts-near-1",
        "Where good documents are far fewer than bad ones, most rankings have a loss close to 1, so the initial"
        f" objective of a query is close to 1 (lists with at least {FEW_GOOD} bad documents for each good one;"
        f" {NEAR_ONE} or more over random orders).",
        evidence.of_training_lists("random orders", NEAR_ONE),
        "Section 2, conditioning",
        OF_DELTA,
        section="Section 2",
        control=evidence.loss_of_two_documents,
    ),
    Claim(
        "expected-loss-falls-little",
        "As w is optimized, the expected loss (4) drops from 1 by a very small quantity (on the same lists; a tenth or"
        " less).",
        evidence.of_training_lists("trained", LITTLE),
        "Section 2, conditioning",
        OF_DELTA,
        section="Section 2",
        control=evidence.of_training_lists("at w = 0", LITTLE, few=0),
    ),
    Claim(
        "logarithm-of-gain-trains-better",
        "The logarithm of the gain, (6), trains better than the expected loss, (4).",
        lambda results: greater(evidence.of_objectives(results, "ExpGain", "L2")),
        "Equations 4 to 6",
        POINTS,
        section="Section 2",
    ),
    Claim(
        "restarts-are-adequate",
        "The restarts are adequate: three times as many rank alike.",
        evidence.further_restarts_add_nothing,
        "Equations 4 to 6",
        POINTS,
        section="Section 2",
    ),
    Claim(
        "restarts-are-needed",
        "With restarts ExpGain ranks better than from w = 0 alone.",
        evidence.restarts_are_needed,
        "Equations 4 to 6",
        POINTS,
        section="Section 2",
        source="ours",
    ),
    Claim(
        "dependent-samples-stop-lbfgs",
        "With rankings sampled by the current w, the line search of L-BFGS fails: it ends before it converges (to 1 %"
        " of the gradient).",
        evidence.of_dependent_walks("not converged", walks.BY_LAW, walks.ONCE),
        "Section 4, walks",
        OF_RUNS,
        section="Section 4",
        control=evidence.of_dependent_walks("not converged", walks.ONCE, walks.ONCE),
    ),
    Claim(
        "fixed-samples-train-better",
        "Rankings sampled once before training give a better training MAP than those sampled by the current w.",
        evidence.of_dependent_walks("training MAP", walks.ONCE, walks.BY_LAW),
        "Section 4, walks",
        POINTS,
        section="Section 4",
        source="ours",
        control=evidence.of_dependent_walks("training MAP", walks.ONCE, walks.ONCE),
    ),
    Claim(
        "closed-forms",
        "The sums over all sign matrices have closed forms that are evaluated in polynomial time.",
        evidence.identities_hold,
        "Figure 1",
        section="Section 2",
        role="main",
    ),
    Claim(
        "closed-forms-are-not-over-rankings",
        "Not all sign matrices are orders, so that the closed forms differ from sums over rankings.",
        exact_check(
            "largest relative difference from sums over rankings, lists of 4 to 6 documents",
            lambda: largest_error(OVER_RANKINGS),
            at_least=TOLERANCE,
            control=lambda: largest_error(OVER_ALL),
            control_of="from sums over all sign matrices",
        ),
        "Figure 1",
        section="Section 4",
        source="ours",
    ),
    Claim(
        "walk-stays-among-rankings",
        "The walk changes one pair at a time and stays among rankings.",
        evidence.walk_stays_among_rankings,
        "Figure 2",
        section="Section 4",
    ),
    Claim(
        "small-changes-are-likelier",
        "With the flip probability of Figure 2 as it is reconstructed here, flips that change Delta less are likelier.",
        evidence.small_changes_are_likelier,
        "Figure 2",
        section="Section 4",
        source="ours",
    ),
    Claim(
        "convex-loss-is-convex",
        "ConvexLoss is convex.",
        exact_check(
            "largest rise above chords between random scores",
            lambda: largest_bend("convex_loss"),
            at_most=TOLERANCE,
            control=lambda: largest_bend("exp_gain"),
            control_of="of ExpGain",
        ),
        "Section 4, A2",
        None,
        "Section 3",
        "main",
    ),
    Claim(
        "l2-is-not-convex",
        "L2 is not convex (with Equation 11 as it is reconstructed here).",
        exact_check(
            "largest rise above chords between random scores",
            lambda: largest_bend("logrank_l2"),
            at_least=TOLERANCE,
            control=lambda: largest_bend("convex_loss"),
            control_of="of ConvexLoss",
        ),
        "Section 4, A2",
        section="Section 3",
    ),
    Claim(
        "l3-is-not-convex",
        "L3 will in general be non-convex because of L2 (with Equation 11 as it is reconstructed here).",
        exact_check(
            "largest rise above chords between random scores",
            lambda: largest_bend("logrank_l3"),
            at_least=TOLERANCE,
            control=lambda: largest_bend("exp_gain"),
            control_of="of ExpGain, which is not convex",
        ),
        "Section 4, A2",
        section="Section 3",
    ),
    Claim(
        "convex-loss-bounds-l3",
        "ConvexLoss is an upper bound of L3 = L1 + L2.",
        exact_check(
            f"least of ConvexLoss less L3, {RANDOM_LISTS} random lists",
            of_bounds("convex_loss", "logrank_l3", "min"),
            at_least=-TOLERANCE,
            control=of_bounds("logrank_mle", "logrank_l3", "min"),
            control_of="of MLE less L3",
        ),
        "Section 4, A2",
        section="Section 3",
    ),
    Claim(
        "bound-is-within-an-eighth",
        "ConvexLoss is within 1/8 of L3 for every query.",
        exact_check(
            f"largest gap, {RANDOM_LISTS} random lists",
            of_bounds("convex_loss", "logrank_l3", "max"),
            at_most=0.125,
            control=of_bounds("convex_loss", "logrank_mle", "max"),
            control_of="to MLE",
        ),
        "Section 4, A2",
        source="ours",
    ),
    Claim(
        "convex-loss-softens-the-hinge",
        "ConvexLoss is the soft maximum of the structured hinge.",
        evidence.convex_softens_the_hinge,
        "Section 4, A2",
        section="Section 3",
    ),
    *(
        Claim(
            f"{better}-beats-{worse}".lower().replace("_", "-"),
            f"{better} beats {worse}.",
            evidence.ranks_better([(better, worse)]),
            "Figure 3 MAP",
            POINTS,
            section="Section 5.2",
            source=source,
        )
        for better, worse, source in PAIRS
    ),
    Claim(
        "convex-ndcg-beats-baselines",
        "Convex_NDCG beats all baselines.",
        evidence.best_of("Convex_NDCG", BASELINES),
        "Figure 3 MAP",
        POINTS,
        section="Section 5.2",
    ),
    Claim(
        "convex-ndcg-is-the-best",
        "ConvexLoss_NDCG is the best method across all.",
        evidence.best_of("Convex_NDCG", tuple(model for model in MODELS if model != "Convex_NDCG")),
        "Figure 3 MAP",
        POINTS,
        section="Section 5.2",
        role="main",
    ),
    Claim(
        "convex-loss-beats-l3",
        "ConvexLoss ranks better than L3 (the paper says that L3 is the best less often).",
        evidence.ranks_better([(f"Convex_{gain}", f"L3_{gain}") for gain in GAINS], ("MAP",)),
        "Figure 3 MAP",
        POINTS,
        section="Section 5.2",
        source="ours",
    ),
    Claim(
        "mle-beats-baselines-in-half",
        "MLE beats all baselines 16 out of 32 times (tested: in half of the cells).",
        evidence.half_of_the_cells,
        "Figure 3 wins",
        OF_CELLS,
        section="Section 5.2",
    ),
    *(
        Claim(
            claim_id,
            f"{model} {statement} {count} out of 32 times (tested is less: in more than half of the cells).",
            evidence.most_cells(model, statement),
            "Figure 3 wins",
            OF_CELLS,
            section="Section 5.2",
            role=role,
        )
        for claim_id, model, statement, count, role in COUNTS
    ),
    Claim(
        "accuracy-grows-with-samples",
        "Accuracy increases with increasing sample size.",
        evidence.more_rankings_help,
        "Figure 4",
        OVER_THE_AXIS,
        section="Section 5.3.1",
    ),
    Claim(
        "samples-saturate",
        "At the sample sizes shown, accuracy is close to saturation.",
        evidence.samples_saturate,
        "Figure 4",
        POINTS,
        section="Section 5.3.1",
    ),
    Claim(
        "best-restarts-help",
        "Skewing restarts toward Delta = 0 generally increases accuracy.",
        evidence.best_restarts_help,
        "Figure 5",
        POINTS,
        section="Section 5.3.2",
    ),
    Claim(
        "negative-skew-helps",
        "Among diverse restarts, a skew toward Delta = 0 (k < 0) is better than one toward Delta = 1.",
        evidence.negative_skew_helps,
        "Figure 6",
        POINTS,
        section="Section 5.3.2",
    ),
    Claim(
        "spread-is-smaller-at-the-worst",
        "The smear of sampled Deltas around the seed Delta = 1 is much smaller than that around Delta = 0 (in MAP and"
        " NDCG).",
        evidence.spread_is_smaller_at_the_worst(("MAP", "NDCG")),
        "Figure 7",
        OF_DELTA,
        section="Section 5.3.3",
        control=evidence.spread_is_smaller_at_the_worst(("AUC",)),
    ),
    Claim(
        "scores-dominate",
        "Once training has begun, a large w.phi usually trumps Delta.",
        evidence.scores_dominate,
        "Figure 8",
        Margin(0.1, "A tenth of Delta's range."),
        section="Section 5.3.4",
        control=lambda results: evidence.scores_dominate(results, trained=False),
    ),
    Claim(
        "both-objectives-improve",
        "The exact and the sampled objective each improve as iterations progress.",
        evidence.both_objectives_improve,
        "Section 5.3.4",
        OF_THE_LOSS,
        section="Section 5.3.4",
        control=lambda results: evidence.both_objectives_improve(results, trained=False),
    ),
)
OBSERVATIONS = (
    Observation(
        "baselines-are-rarely-the-best",
        "Section 5.2: how rarely the baselines are the best.",
        evidence.baselines_among_the_best,
        "Figure 3 wins",
    ),
    Observation(
        "l3-is-less-often-the-best",
        "Section 5.2: in how many cells L3 is the best, and ConvexLoss.",
        evidence.l3_among_the_best,
        "Figure 3 wins",
    ),
)
