"""Points to keep in mind when reading the comparison."""

from __future__ import annotations

FINDINGS = (
    "All combinations of a backend share its settings: the same network, trees, learning rate and stopping rule. Only"
    " L-BFGS's $C$ is chosen, on validation data. A paper's own settings for its own loss may do better; those are in"
    " the notebooks of the papers.",
    "Features are scaled within each query for all backends, as the networks and linear scorers need it.",
    "The best of the papers' own is taken on the test data, which favours the papers; the candidates are corrected for"
    " their number.",
    "LogRank's losses and SVM-MAP are for good and bad documents: labels of 1 and more count as good in training,"
    " and graded NDCG measures all models alike.",
    "BoltzRank, SoftRank, PL-Rank and StochasticRank are expectations over noisy rankings already, so Gumbel noise is"
    " not laid over them. L-BFGS needs one function to minimise: there the noise is drawn once.",
    "Losses with a gradient that is no function's, such as lambdaMART's and uMart's, may find no step under L-BFGS's"
    " line search and stay near where they began.",
)
