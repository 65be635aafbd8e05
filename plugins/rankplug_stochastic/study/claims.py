"""The paper's claims, and its known errors and gaps."""

from __future__ import annotations

from rankplug.studies import Claim, Margin, exact_check
from rankplug_stochastic.study import evidence, losses, noise
from rankplug_stochastic.study.evidence import stretch
from rankplug_stochastic.study.exhibits import OF_SPREAD, OF_TRAINING, PLAIN, loses_less
from rankplug_stochastic.study.protocol import LAWS

FINDINGS = (
    "That CrossEntropy does not change under noise is more than Section 5.1 shows: it gives an upper bound. The"
    " minimiser moves: for two documents with target share .9 the best score gap is 2.20 for CrossEntropy and 3.19 for"
    " its expectation. The order is the same, the scale is larger; the claim is tested on rankings.",
    "Between Eq. 12 and 13 Euler's constant is dropped, which an upper bound allows; for noise of scale beta the"
    " constant is beta times it.",
    "The clipping of the uniform draws is not given. Here they lie within 1e-10 of 0 and 1.",
    "Where a temperature divides scores and noise alike, as in TF-Ranking's sampler, the law of the ranking does not"
    " change. beta here multiplies the noise only, as in Algorithm 1.",
    "The paper calls a cross entropy against label shares ListNet; the original takes the softmax of the labels. Both"
    " are here, as cross_entropy and listnet.",
    "sigma = 2 means a factor 2 on gradients and 4 on curvatures, as in LightGBM from version 2.3 on. Pairs are not"
    " truncated; LightGBM's present default of 30 would be another loss.",
    "A deterministic LightGBM run has no variance, yet the paper prints intervals for lambdaMART. All trees here see"
    " 90 % of the documents, drawn anew for every tree.",
    "The text before Eq. 24 calls the objective a utility; it is a loss and is minimised.",
    "The noise Z_ij in the sigmoids of Figure 2 is logistic, but not independent between pairs: Z_12 + Z_23 = Z_13."
    " Therefore n Gumbel draws are made, not n^2 logistic ones.",
    "Not given: list truncation (none here), feature transform (none), number of steps, Adam's learning rate"
    " (chosen on validation data from 1e-4, 5e-4, 1e-3, 5e-3 in the profiles real and paper).",
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
NETWORKS_DIFFER = " (with another network and optimiser: setting B against A)"
"""Added where Table 1 compares losses of which only the expected one has the network and optimiser of setting B."""
CLAIMS = (
    Claim(
        "samples-follow-concrete-density",
        "Perturbed scores are samples of the Concrete distribution; a document comes first as often as alpha says.",
        evidence.samples_follow_the_density,
        "Figure 1",
        section="Section 4.2",
    ),
    Claim(
        "noise-enters-sigmoids",
        "ApproxNDCG's ranks of sampled scores are those of raw scores with $Z_{ij}=G_i-G_j$ in the sigmoids.",
        exact_check(
            "largest difference of the ranks of three documents in 1000 draws",
            losses.largest_difference,
            at_most=1e-12,
            control=lambda: losses.largest_difference(independent=True),
            control_of="with noise that is independent from pair to pair",
        ),
        "Figure 2",
        section="Section 5.2",
    ),
    Claim(
        "differences-are-logistic",
        "$Z_{ij}=G_i-G_j$ is logistic of scale beta; pairs that share a document are dependent.",
        evidence.differences_are_logistic,
        "Law of Z",
        section="Section 5.2",
    ),
    Claim(
        "noise-widens-margins",
        "Noise also widens the margin between relevance classes: a pair that ApproxNDCG has in the right order is"
        " pushed ten times as strongly.",
        exact_check(
            f"E[ApproxNDCG]'s push at a gap of {losses.IN_ORDER:g} over ApproxNDCG's",
            lambda: losses.growth_of_push(losses.LOSSES["ApproxNDCG"]),
            at_least=10.0,
            control=lambda: losses.growth_of_push(losses.LOSSES["CrossEntropy"]),
            control_of="of CrossEntropy, which widens margins by itself",
        ),
        "Margins",
        section="Section 1",
    ),
    *(
        Claim(
            f"robust-to-{unit}-noise-{loss.lower()}",
            f"Noise on test scores, {words}, costs E[{loss}] less NDCG than {loss}.",
            loses_less(scale, loss),
            "Perturbed scores",
            POINTS,
            section="Section 1",
            source="ours",
        )
        for unit, scale, words in (
            ("training", OF_TRAINING, "of the scale that training had"),
            ("spread", OF_SPREAD, "of half the standard deviation of each model's own scores"),
        )
        for loss in ("ApproxNDCG", "lambdaMART")
    ),
    Claim(
        "variance-falls-with-samples",
        "The variance of a gradient falls as one over the number of samples.",
        exact_check(
            "largest deviation of draws times their variance from one draw's, relative to it",
            noise.farthest_from_one_over_draws,
            at_most=0.15,
            control=lambda: noise.farthest_from_one_over_draws(repeated=True),
            control_of="where one draw is repeated",
        ),
        "Variance and draws",
        source="ours",
    ),
    Claim(
        "cross-entropy-bound",
        "With clipped noise, E[H] is at most H + log E[e^G] (Equations 13 and 14).",
        exact_check(
            "least of the bound less E[H], lists of 2 to 100 documents",
            losses.least_room,
            at_least=0.0,
            control=lambda: losses.least_room(share=0.1),
            control_of="with a tenth of the constant",
        ),
        "Equations 9 to 14",
        section="Section 5.1",
    ),
    Claim(
        "expectation-does-not-exist",
        "In theory, the expectation E[e^G] in the last term of Equation 14 does not exist.",
        exact_check(
            "E[e^G] with eps = 1e-100 over that with 1e-10",
            lambda: losses.growth_of_the_constant()[0],
            at_least=2.0,
            control=lambda: losses.growth_of_the_constant()[1],
            control_of="of E[e^(G/2)], which has a limit",
        ),
        "Equations 9 to 14",
        section="Section 5.1",
    ),
    Claim(
        "cross-entropy-best-scores-stay",
        "Noise does not move CrossEntropy's best scores.",
        exact_check(
            "largest move of the best score gap of two documents",
            losses.largest_move,
            at_most=0.01,
            control=lambda: losses.largest_move(beta=0.01),
            control_of="with beta = .01",
        ),
        "Equations 9 to 14",
        source="ours",
    ),
    Claim(
        "cross-entropy-best-order-stays",
        "Noise does not change the order of CrossEntropy's best scores.",
        exact_check(
            "least best gap under noise, the first document's target being the larger",
            losses.least_gap,
            at_least=0.0,
            control=lambda: losses.least_gap(share_from=0.4),
            control_of="with targets from .4 on",
        ),
        "Equations 9 to 14",
        section="Section 5.1",
        source="ours",
    ),
    Claim(
        "cross-entropy-does-not-benefit",
        "CrossEntropy does not benefit from Algorithm 1 (same settings).",
        evidence.cross_entropy_unchanged,
        "Figure 3a",
        POINTS,
        section="Section 7.1",
        role="main",
    ),
    Claim(
        "approxndcg-better-optimum",
        "The application of Algorithm 1 to ApproxNDCG results in a better optimum (same settings).",
        evidence.approx_reaches_higher,
        "Figure 3b",
        POINTS,
        section="Section 7.1",
        role="main",
    ),
    Claim(
        "approxndcg-faster-convergence",
        "The application of Algorithm 1 to ApproxNDCG results in a faster convergence.",
        evidence.early_lead("ApproxNDCG"),
        "Figure 3b",
        POINTS,
        section="Section 7.1",
        role="main",
    ),
    Claim(
        "approxndcg-gap-grows",
        "The performance gap between ApproxNDCG and E[ApproxNDCG] grows wider as training progresses.",
        evidence.of_curves(
            "E[ApproxNDCG]", "ApproxNDCG", lambda gaps: stretch(gaps, 2 / 3, 1) - stretch(gaps, 0, 1 / 3)
        ),
        "Figure 3b",
        POINTS,
        section="Section 7.1",
    ),
    Claim(
        "approxndcg-overfits-earlier",
        "E[ApproxNDCG] shows signs of overfitting earlier (with the baseline's settings).",
        evidence.approx_overfits_earlier,
        "Figure 3b",
        TRAINING,
        section="Section 7.1",
    ),
    Claim(
        "lambdamart-faster-convergence",
        "Training lambdaMART with stochastic scores leads to a higher convergence rate.",
        evidence.early_lead("lambdaMART"),
        "Figure 3c",
        POINTS,
        section="Section 7.1",
        role="main",
    ),
    Claim(
        "lambdamart-ahead-in-training",
        "E[lambdaMART] consistently outperforms lambdaMART during training.",
        evidence.of_curves("E[lambdaMART]", "lambdaMART", lambda gaps: gaps.mean()),
        "Figure 3c",
        POINTS,
        section="Section 7.1",
    ),
    Claim(
        "lambdamart-gain-with-fewer-trees",
        "The difference between E[lambdaMART] and lambdaMART is more pronounced with fewer trees.",
        evidence.of_curves("E[lambdaMART]", "lambdaMART", lambda gaps: stretch(gaps, 0, 0.25) - stretch(gaps, 0.75, 1)),
        "Figure 3c",
        POINTS,
        section="Section 7.2",
    ),
    Claim(
        "longer-training-falls-short",
        "Training ApproxNDCG for more steps (three times the epochs) does not yield an NDCG better than the largest"
        " NDCG achieved by E[ApproxNDCG].",
        evidence.longer_training_falls_short,
        "Mentioned",
        POINTS,
        section="Section 7.1",
    ),
    Claim(
        "whichever-trial",
        "Regardless of which trial is plotted, the comparison holds. Tested is less: E[ApproxNDCG] and E[lambdaMART]"
        " lie above in more than half of the trials.",
        evidence.whichever_trial,
        "Figure 3b",
        OF_TRIALS,
        section="Section 7.1",
    ),
    Claim(
        "similar-on-yahoo",
        "A similar trend is observed on the Yahoo! dataset.",
        evidence.similar_on_yahoo,
        "Figure 3, Yahoo",
        POINTS,
        section="Section 7.1",
    ),
    Claim(
        "listmle-and-ranknet-are-weak",
        "ListMLE and RankNet are weaker than the three baselines.",
        evidence.weak_losses,
        "Mentioned",
        POINTS,
        section="Section 6.2",
    ),
    Claim(
        "dropout-place-does-not-matter",
        "E[ApproxNDCG] in setting B ranks alike with dropout between all layers and after the last.",
        evidence.dropout_places_alike,
        "Mentioned",
        POINTS,
        source="ours",
    ),
    Claim(
        "tuning-widens-the-gap",
        "With fine-tuned hyperparameters the gap between ApproxNDCG and E[ApproxNDCG] widens substantially.",
        evidence.tuning_widens_the_gap,
        "Figure 4",
        POINTS,
        section="Section 7.1",
    ),
    Claim(
        "approxndcg-table-1",
        f"E[ApproxNDCG] consistently improves upon ApproxNDCG significantly, on both datasets{NETWORKS_DIFFER}.",
        evidence.better_at_every_cutoff("E[ApproxNDCG]", "ApproxNDCG"),
        "Table 1",
        POINTS,
        section="Section 7.2",
        role="main",
    ),
    Claim(
        "lambdamart-table-1",
        "On both datasets, E[lambdaMART] performs better than lambdaMART across rank cutoffs.",
        evidence.better_at_every_cutoff("E[lambdaMART]", "lambdaMART"),
        "Table 1",
        POINTS,
        section="Section 7.2",
        role="main",
    ),
    *(
        Claim(
            f"{better.lower()}-beats-{worse.lower()}",
            f"{better} performs better than {worse} at every cutoff, as Table 1 prints it.",
            evidence.better_at_every_cutoff(better, worse),
            "Table 1",
            POINTS,
            section="Section 7.2",
        )
        for better, worse in (("ApproxNDCG", "CrossEntropy"), ("lambdaMART", "ApproxNDCG"))
    ),
    Claim(
        "cross-entropy-table-1",
        f"CrossEntropy and E[CrossEntropy] show no statistically significant performance difference{NETWORKS_DIFFER}.",
        evidence.cross_entropy_pair_alike,
        "Table 1",
        POINTS,
        section="Section 7.2",
        role="main",
    ),
    *(
        Claim(
            f"noise-alone-improves-{loss.lower()}",
            f"Noise alone improves {loss}, with either network, all equally tuned.",
            evidence.gain_of(loss, "noise, with A", "noise, with B"),
            "Noise and network",
            POINTS,
            source="ours",
        )
        for loss in PLAIN
    ),
    *(
        Claim(
            f"network-alone-improves-{loss.lower()}",
            f"The network and optimiser of setting B alone improve {loss}, all equally tuned.",
            evidence.gain_of(loss, "the network and optimiser B, without noise"),
            "Noise and network",
            POINTS,
            source="ours",
        )
        for loss in PLAIN
    ),
    Claim(
        "law-of-noise-does-not-matter",
        "Under Gaussian or logistic noise of the same scale E[ApproxNDCG] ranks as under Gumbel noise.",
        evidence.kinds_alike("beta = 1", *LAWS),
        "Kinds of noise",
        POINTS,
        section="Section 8",
        source="ours",
    ),
    Claim(
        "eight-samples-are-enough",
        "With eight samples E[ApproxNDCG] ranks as with sixteen.",
        evidence.kinds_alike("N = 16", "N = 8"),
        "Kinds of noise",
        POINTS,
        source="ours",
    ),
)
