"""The paper's claims, each with the statistic that gives evidence on it."""

from __future__ import annotations

from rankplug.studies import Claim, Margin
from rankplug_stochastic.study.experiments.comparisons import (
    approx_overfits_earlier,
    approx_reaches_higher,
    better_at_every_cutoff,
    cross_entropy_pair_alike,
    cross_entropy_unchanged,
    dropout_places_alike,
    early_lead,
    gain_of,
    kinds_alike,
    longer_training_falls_short,
    of_curves,
    similar_on_yahoo,
    stretch,
    tuning_widens_the_gap,
    weak_losses,
    whichever_trial,
)
from rankplug_stochastic.study.experiments.noise_and_network import PLAIN
from rankplug_stochastic.study.experiments.perturbed_scores import OF_SPREAD, OF_TRAINING, loses_less
from rankplug_stochastic.study.protocol import LAWS
from rankplug_stochastic.study.theory.exact_checks import (
    best_order_stays,
    best_scores_stay,
    bound_holds,
    constant_has_no_limit,
    differences_are_logistic,
    margins_widen,
    noise_enters_either_way,
    samples_follow_the_density,
    variance_falls_with_draws,
)

POINTS = Margin(
    0.005,
    "Half a point of NDCG. What Table 1 gains on networks is a third of a point at least; the .05 to .19 points that it"
    " prints for trees no user would notice.",
    scale=100,
    unit="points",
)
TRAINING = Margin(0.05, "A twentieth of the training, about the width of a line in Figure 3.", 100, "% of the training")
OF_TRIALS = Margin(0.1, "A tenth of the trials.", scale=100, unit="% of the trials")
NETWORKS_DIFFER = " (network and optimiser: B against A)"
"""Said where Table 1 compares losses of which only the expected one has the network and optimiser of setting B."""
CLAIMS = (
    Claim(
        "Perturbed scores follow the Concrete density; a document comes first as often as alpha says.",
        samples_follow_the_density,
        "Figure 1",
    ),
    Claim(
        "Section 5.2: ranks of sampled scores equal ranks of raw scores with $Z_{ij}=G_i-G_j$ in the sigmoids.",
        noise_enters_either_way,
        "Figure 2",
    ),
    Claim(
        "Section 5.2: $Z_{ij}$ is logistic of scale beta. Not in the paper: pairs that share a document are dependent.",
        differences_are_logistic,
        "Law of Z",
    ),
    Claim(
        "Section 1: noise goes on widening the margin of a pair that ApproxNDCG has in the right order (tenfold push).",
        margins_widen,
        "Margins",
    ),
    *(
        Claim(
            f"{where} noise on test scores, {words}, takes less NDCG from E[{loss}] than from {loss}.",
            loses_less(unit, loss),
            "Perturbed scores",
            POINTS,
        )
        for unit, where, words in (
            (OF_TRAINING, "Section 1:", "of the scale that training had"),
            (OF_SPREAD, "Not in the paper:", "of half the deviation of each model's own"),
        )
        for loss in ("ApproxNDCG", "lambdaMART")
    ),
    Claim(
        "Not in the paper: the variance of a gradient falls as one over the number of draws.",
        variance_falls_with_draws,
        "Variance and draws",
    ),
    Claim("Equations 13 and 14: with clipped noise, E[H] is at most H + log E[e^G].", bound_holds, "Equations 9 to 14"),
    Claim("Section 5.1: without clipping, E[e^G] does not exist.", constant_has_no_limit, "Equations 9 to 14"),
    Claim(
        "Not in the paper: noise leaves CrossEntropy's best scores where they are.",
        best_scores_stay,
        "Equations 9 to 14",
    ),
    Claim(
        "Section 5.1: noise leaves the order of CrossEntropy's best scores as it is.",
        best_order_stays,
        "Equations 9 to 14",
    ),
    Claim(
        "With the same settings, E[CrossEntropy] ranks as CrossEntropy does.",
        cross_entropy_unchanged,
        "Figure 3a",
        POINTS,
    ),
    Claim(
        "With the same settings, E[ApproxNDCG]'s best exceeds ApproxNDCG's.", approx_reaches_higher, "Figure 3b", POINTS
    ),
    Claim("E[ApproxNDCG] rises faster than ApproxNDCG.", early_lead("ApproxNDCG"), "Figure 3b", POINTS),
    Claim(
        "The gap between E[ApproxNDCG] and ApproxNDCG grows as training goes on.",
        of_curves("E[ApproxNDCG]", "ApproxNDCG", lambda gaps: stretch(gaps, 2 / 3, 1) - stretch(gaps, 0, 1 / 3)),
        "Figure 3b",
        POINTS,
    ),
    Claim("E[ApproxNDCG] overfits earlier.", approx_overfits_earlier, "Figure 3b", TRAINING),
    Claim("E[lambdaMART] rises faster than lambdaMART.", early_lead("lambdaMART"), "Figure 3c", POINTS),
    Claim(
        "E[lambdaMART] stays above lambdaMART.",
        of_curves("E[lambdaMART]", "lambdaMART", lambda gaps: gaps.mean()),
        "Figure 3c",
        POINTS,
    ),
    Claim(
        "Section 7.2: the gain over lambdaMART is larger with fewer trees.",
        of_curves("E[lambdaMART]", "lambdaMART", lambda gaps: stretch(gaps, 0, 0.25) - stretch(gaps, 0.75, 1)),
        "Figure 3c",
        POINTS,
    ),
    Claim(
        "Section 7.1: more steps do not bring ApproxNDCG above E[ApproxNDCG]'s best (three times the epochs).",
        longer_training_falls_short,
        "Mentioned",
        POINTS,
    ),
    Claim(
        "Section 7.1: whichever trial is drawn, E[ApproxNDCG] and E[lambdaMART] lie above (in more than half of them).",
        whichever_trial,
        "Figure 3b",
        OF_TRIALS,
    ),
    Claim("Section 7.1: the trend is similar on Yahoo.", similar_on_yahoo, "Figure 3, Yahoo", POINTS),
    Claim("Section 6.2: ListMLE and RankNet are weaker than the three baselines.", weak_losses, "Mentioned", POINTS),
    Claim(
        "Not in the paper: E[ApproxNDCG] in setting B ranks alike with dropout between all layers and after the last.",
        dropout_places_alike,
        "Mentioned",
        POINTS,
    ),
    Claim("Settings of its own widen E[ApproxNDCG]'s lead.", tuning_widens_the_gap, "Figure 4", POINTS),
    *(
        Claim(
            f"{better} ranks better than {worse} at every cut-off{unequal}.",
            better_at_every_cutoff(better, worse),
            "Table 1",
            POINTS,
        )
        for better, worse, unequal in (
            ("E[ApproxNDCG]", "ApproxNDCG", NETWORKS_DIFFER),
            ("E[lambdaMART]", "lambdaMART", ""),
            ("ApproxNDCG", "CrossEntropy", ""),
            ("lambdaMART", "ApproxNDCG", ""),
        )
    ),
    Claim(
        f"E[CrossEntropy] and CrossEntropy do not differ{NETWORKS_DIFFER}.",
        cross_entropy_pair_alike,
        "Table 1",
        POINTS,
    ),
    *(
        Claim(
            f"Not in the paper: noise alone improves {loss}, with either network, all equally tuned.",
            gain_of(loss, "noise, with A", "noise, with B"),
            "Noise and network",
            POINTS,
        )
        for loss in PLAIN
    ),
    *(
        Claim(
            f"Not in the paper: the network and optimiser of setting B alone improve {loss}, all equally tuned.",
            gain_of(loss, "the network and optimiser B, without noise"),
            "Noise and network",
            POINTS,
        )
        for loss in PLAIN
    ),
    Claim(
        "Not in the paper: under Gaussian or logistic noise of the same scale E[ApproxNDCG] ranks as under Gumbel's.",
        kinds_alike("beta = 1", *LAWS),
        "Kinds of noise",
        POINTS,
    ),
    Claim(
        "Not in the paper: with eight draws E[ApproxNDCG] ranks as with sixteen.",
        kinds_alike("N = 16", "N = 8"),
        "Kinds of noise",
        POINTS,
    ),
)
