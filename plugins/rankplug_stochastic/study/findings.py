"""Known errors and gaps of the paper, and what is done about each."""

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
