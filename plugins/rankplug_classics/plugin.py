"""Specifications of this package: the losses that the four papers compare with or build on."""

from __future__ import annotations

from rankplug import BackendSpecification, LossSpecification, Parameters, ScorerSpecification, hookimpl
from rankplug_classics import parameters
from rankplug_classics.boosting import weak_rankers

NOISE = frozenset({"noise"})
BINARY = frozenset({"binary labels"})


def _loss(
    name: str,
    summary: str,
    paper: str,
    formula: str,
    parameters: type[Parameters] = Parameters,
    module: str = "",
    **declared: object,
) -> LossSpecification:
    return LossSpecification(
        name=name,
        summary=summary,
        paper=paper,
        formula=formula,
        parameters=parameters,
        implementation=f"rankplug_classics.{module or name}:{name}",
        **declared,  # type: ignore[arg-type]
    )


@hookimpl
def rankplug_losses() -> list[LossSpecification]:
    """Offer the losses."""
    return [
        _loss(
            "mse",
            "mean squared error between scores and labels",
            "regression, Cossock and Zhang 2006",
            r"\frac1n\sum_i (f_i - y_i)^2",
            parameters.MeanSquaredError,
            convex=True,
            shift_invariant=False,
            curvature="exact",
            zero_gradient=frozenset(),
        ),
        _loss(
            "ranknet",
            "logistic loss of every pair",
            "RankNet, Burges et al. 2005",
            r"\sum_{y_i > y_j} \log(1 + e^{-\sigma (f_i - f_j)})",
            parameters.RankNet,
            convex=True,
            curvature="exact",
            module="pairs.ranknet",
        ),
        _loss(
            "ranksvm",
            "hinge loss of every pair",
            "RankSVM, Joachims 2002",
            r"\sum_{y_i > y_j} \max(0, 1 - (f_i - f_j))",
            parameters.RankSVM,
            convex=True,
            curvature="surrogate",
            module="pairs.ranksvm",
        ),
        _loss(
            "rankboost",
            "exponential loss of every pair",
            "RankBoost, Freund et al. 2003",
            r"\sum_{y_i > y_j} e^{-(f_i - f_j)}",
            parameters.RankBoost,
            convex=True,
            curvature="surrogate",
            module="pairs.rankboost",
        ),
        _loss(
            "fidelity",
            "fidelity loss of every pair, at most 1 each; the pairs of a list together weigh the same",
            weak_rankers.FRANK,
            r"\frac1{\#}\sum_{y_i > y_j} \left(1 - \sqrt{\sigma(f_i - f_j)}\right)",
            parameters.Fidelity,
            curvature="surrogate",
            module="pairs.fidelity",
        ),
        _loss(
            "adarank",
            "exponential of minus a measure; for engines other than its own, pushes of pairs as in LambdaRank",
            weak_rankers.ADARANK,
            r"e^{-E(\pi(f), y)},\quad E = \mathrm{AP}\ \text{or}\ \mathrm{NDCG@k}",
            parameters.AdaRank,
            curvature="surrogate",
            gradient="lambda",
        ),
        _loss(
            "listmle",
            "likelihood of the order of the labels, ties in random order",
            "ListMLE, Xia et al. 2008",
            r"\sum_i \left[\log\sum_{j \ge i} e^{f_{(j)}} - f_{(i)}\right]",
            parameters.ListMLE,
            convex=True,
            curvature="exact",
            needs=NOISE,
        ),
        _loss(
            "p_listmle",
            "ListMLE with weights that favour the top places; unlike the paper's, over 2^n, and ties in random order",
            "p-ListMLE, Lan et al. 2014",
            r"\sum_i \alpha(i) \left[\log\sum_{j \ge i} e^{f_{(j)}} - f_{(i)}\right],\quad"
            r" \alpha(i) = \frac{2^{n-i} - 1}{2^n}",
            parameters.PositionAwareListMLE,
            module="listmle",
            convex=True,
            curvature="exact",
            needs=NOISE,
        ),
        _loss(
            "lambdaloss",
            "logistic pairs with weights that bound NDCG",
            "LambdaLoss, Wang et al. 2018",
            r"\sum_{y_i > y_j} (\rho_{ij} + \mu\delta_{ij}) |G_i - G_j| \log_2(1 + e^{-\sigma (f_i - f_j)})",
            parameters.LambdaLoss,
            curvature="exact",
            module="pairs.lambdaloss",
        ),
        _loss(
            "svm_map",
            "structured hinge on average precision",
            "SVM-MAP, Yue et al. 2007",
            r"\max_y\ \Delta_{MAP}(y) - \frac1{n_+n_-}\sum_{g,b}(1 - y_{gb})(f_g - f_b)",
            convex=True,
            curvature="surrogate",
            needs=BINARY,
        ),
        _loss(
            "mdprank",
            "policy gradient of ranking as a decision process; the paper's policy is linear, here any scorer's",
            "MDPRank, Wei et al. 2017",
            r"-\sum_t \gamma^t G_t \log \frac{e^{f_{a_t}}}{\sum_{j \text{ left}} e^{f_j}}",
            parameters.MDPRank,
            curvature="exact",
            needs=NOISE,
        ),
        _loss(
            "softrank",
            "expected NDCG under Gaussian noise of its own on every score",
            "SoftRank, Taylor et al. 2008",
            r"-\frac1{\mathrm{IDCG}}\sum_j (2^{y_j} - 1)\, E\left[\frac1{\log_2(1 + r_j)}\right]",
            parameters.SoftRank,
            longest=1500,
        ),
        _loss(
            "soft_spearman",
            "squared distance between soft ranks of the scores and ranks of the labels, as Spearman's correlation",
            "Fast differentiable sorting and ranking, Blondel et al. 2020",
            r"\tfrac12 \lVert r(f) - r(y) \rVert^2,\quad"
            r" r(f) = \operatorname{argmin}_{\mu \in \mathcal P(n, \dots, 1)} \lVert \mu + f / \epsilon \rVert^2",
            parameters.SoftSpearman,
            curvature="exact",
        ),
        _loss(
            "yetirank",
            "logistic loss of pairs that logistic noise makes neighbours",
            "YetiRank, Gulin et al. 2011",
            r"\sum_{i,j} w_{ij} \log(1 + e^{-(f_i - f_j)}),\quad"
            r" w_{ij} = E\left[|y_i - y_j| \sum_r \mathrm{decay}^{r-1}\, 1[i, j \text{ at } r, r+1]\right]",
            parameters.YetiRank,
            curvature="exact",
            needs=NOISE,
            module="pairs.yetirank",
        ),
        _loss(
            "boltzrank",
            "expected NDCG and cross entropy under a Boltzmann law of rankings, without its pairwise potentials",
            "BoltzRank, Volkovs and Zemel 2009",
            r"-\lambda\,E_P[\mathrm{NDCG}] - (1-\lambda)\sum_R Q(R)\log P(R),\quad"
            r" P(R) \propto \exp\tfrac{2}{n(n-1)}\sum_i (n-1-2r_i) f_i",
            parameters.BoltzRank,
            needs=NOISE,
        ),
    ]


@hookimpl
def rankplug_scorers() -> list[ScorerSpecification]:
    """Offer the scorers."""
    return weak_rankers.SCORERS


@hookimpl
def rankplug_backends() -> list[BackendSpecification]:
    """Offer the backends."""
    return weak_rankers.BACKENDS
