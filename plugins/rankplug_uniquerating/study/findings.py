"""Known errors and gaps of the paper, and what is done about each."""

FINDINGS = (
    "A1. The printed ERR are not of one definition. In six rows of Tables 4 and 5 ERR falls as the cut-off grows, which"
    " it cannot. ERR@1 over NDCG@1 on MQ2007 is .61 for all of the paper's models and .41 to .50 for every benchmark."
    " The gains in ERR of Figure 1 are partly an artefact. NDCG is what is compared here; ERR is computed by both"
    " definitions for all models.",
    "A2. Eq. 5 divides by a score difference that is 0 at the start. Here .01 is added, as in LightGBM, and nothing is"
    " divided while all scores are equal.",
    "A3. The discounts' difference in Eq. 5 needs an absolute value, as the authors' code has it.",
    "A4. The printed factor 2 sigma^2 of the curvature and sigma^3 in the authors' code agree at sigma = 2 only, which"
    " is what is used; umart[hessian=true] is the curvature itself, half as large.",
    "Eq. 5 prints minus the gradient. Eq. 6 lacks a factor 1 - p in its first sum and has a minus before the second;"
    " used so, curvatures come out negative. The derivative is used instead.",
    'A5. Residuals "based on P_i(Y)" in Section 3.2 are a leftover of ListNet; Eq. 4 is used, which is right.',
    "A6. The set in Eq. 4 is to be read by ratings: all documents rated higher.",
    "A7. The product of likelihoods is called an approximation of the joint one; it is taken as the definition.",
    "A8. The residual networks learn residuals that carry the factor 1/(R-1), as Eq. 4 has it.",
    "A9, A10. Windows are cut from the lower-rated documents in the order of their present scores; a last window"
    " may be shorter.",
    "A11. The authors' README speaks of averages over several batches; as in the paper, a step here is one query.",
    "A12. Validation data choose the epoch in Tables 2 to 5 here, as the paper says. Table 6 validates on the test"
    " part, as the paper says of LightGBM's evaluation. Beside the published OHSUMED rows stand runs of ours with"
    " either selection and equally many trials; with some twenty queries a fold one run may lie several points off, so"
    " that nothing follows from which is nearer.",
    "Table 1: OHSUMED's LR is 70.03 %, printed 68.12 %. MQ2007's is 74.16 % by its label counts, printed 87.22 %."
    " Web30K has 3,771,125 documents, printed 3,711,000. The other numbers of OHSUMED are as printed.",
    "Algorithm 1 exponentiates raw scores: a gap of 800 gives nan. Line 4 speaks of differences of scores; the formula"
    " needs labels. A list of one rating divides 0 by 0; its loss is 0 here.",
    "p-ListMLE's weights 2^(n-i) - 1 are infinite in float32 from 128 documents on, in lists padded to 320 and more."
    " That may explain its poor printed rows. Here they are divided by 2^n, which changes the gradient's scale only.",
    "MDPRank has no number of epochs or rate in the paper. Here a linear policy takes one episode a query and step;"
    " validation chooses Adam's rate among .001 and .0001.",
    "LambdaMart-L is LightGBM's lambdarank of that time (up to 2.2.3), which umart repeats with windows of one"
    " document; today's lambdarank has another norm. LambdaMart-R has RankLib's default settings on LightGBM's trees,"
    " with the number of trees at most the profile's. LambdaLoss is NDCG-Loss2++ with mu = 10, scored document by"
    " document.",
    "The printed LambdaLoss row has TF-Ranking's group-wise scoring function, whose group size is not given. With"
    " groups of one document it scores document by document, as here; of larger groups the paper says neither size"
    " nor how they are drawn, so that there is no row with them.",
    "Section 3.4 tried GRU, LSTM, average pooling and prediction one by one, Section 4.2 other rules of selection and"
    " scaling over all documents, without numbers; they are trained at the profiles full, real and paper. Scaling over"
    " all documents is by their minimum and maximum here, too.",
    "That features of MSLR are sparse is the paper's intuition why trees lead there. Collections differ in more than"
    " that; here the same data are trained on as they are and with each feature lowered by its .8 quantile and cut off"
    " at 0.",
    "Activation: the paper has ELU, also around the output, which would bound scores below by -1; the authors' code has"
    " ReLU and a linear output. Here ELU in the hidden layers and a linear output.",
    "Trees: the paper gives ranges only (200 to 1000 trees, 31 to 255 leaves). The least sum of curvatures, 5 in the"
    " authors' template for Microsoft's data, is not used on OHSUMED and MQ2007. The profile real has 300 trees of 31"
    " leaves; validation NDCG@10 chooses their number.",
    "The paper trains once, without intervals. Here several trials, which differ in first weights and bagging, over the"
    " same folds. Its t tests do not name the pairs: here test queries.",
    "Time: the printed factors compare implementations, and ours compare others: here every network takes the same"
    " step, and the losses of uRank, p-ListMLE and MDPRank are all sorted sums, a small part of it.",
    "MQ2007 and Microsoft's sets are not on the profile real: MQ2008 stands in the place of MQ2007, Tables 4 and 5 show"
    " published numbers only.",
)
