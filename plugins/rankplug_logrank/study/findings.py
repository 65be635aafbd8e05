"""Known errors and gaps of the paper, and what is done about each."""

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
