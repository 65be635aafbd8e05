"""Known errors and gaps of the paper, and what is done about each."""

FINDINGS = (
    'Definition 1 prints "y in [0,1]^m" where it must be gamma; Eq. 5 uses m and n for documents, elsewhere m is their'
    ' number; Section 4.3\'s "phi(f_{m+1}) = 0" is phi(y_{m+1}) = 0.',
    "The numbers of Table 1 are not in the copy of the text at hand, only its caption and claims, so there is"
    " nothing to set beside ours.",
    "Theorem 1 bounds the logarithm of NDCG plus a constant, for every gamma; with gamma drawn anew each iteration uses"
    " another bound. Queries without a relevant document have no constant and must be left out, which the paper does"
    " not say.",
    "Claim 1 (consistency) and Theorem 2 (the generalisation bound) are statements about limits and all distributions;"
    " no run can test them, so they have no verdict.",
    "The three-term series is exactly twice Newton's step on lists of two documents, since S then has the eigenvalue"
    " -1; click impressions are often that short. From ten documents on its length is within half a per cent.",
    "Whether validation data get the noise too is not said: here the noise of Section 5.4 touches training data only,"
    " and the clicks of Section 5.5 training and validation data, as the text has it.",
    "Impressions without a click carry no signal for lambdaMART but a random target for XE-NDCG. Both models train"
    " without them; keep_clickless=true keeps them.",
    "LightGBM's rank_xendcg had a wrong second-order term from January to April 2020. The paper's formula is the"
    " corrected one, and the one here.",
    "lambdaMART's pairs are not truncated; LightGBM's default of 30 would be another loss.",
    "min_sum_hessian_in_leaf = 0 matters: the curvatures of a list sum to less than 1.",
    "Three pairwise tests are made at each cut-off without a correction; Holm's is shown beside the raw p values."
    " Random splits of one pool"
    " share queries, which makes the paired t test too sure of itself; there the test is that of Nadeau and Bengio"
    " (2003), which allows for it.",
)
