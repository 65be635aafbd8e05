"""Specifications of this package: the losses that the four papers compare with or build on."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from rankplug import (
    BackendSpecification,
    LossSpecification,
    PaddedParameters,
    Parameters,
    ScorerSpecification,
    hookimpl,
)

REFERENCE = "RankBoost, Freund et al. 2003"
ADARANK = "AdaRank, Xu and Li 2007"
FRANK = "FRank, Tsai et al. 2007"


class Stumps(Parameters):
    """Parameters of ``stumps``."""

    rounds: int = Field(300, ge=1, description="number of weak rankers")
    thresholds: int = Field(255, ge=1, le=255, description="thresholds tried of each feature")


class SingleFeatures(Parameters):
    """Parameters of ``single_features``."""

    rounds: int = Field(100, ge=1, description="number of weak rankers")


SCORERS = [
    ScorerSpecification(
        name="stumps",
        summary="a sum of weak rankers, each a threshold on a feature",
        parameters=Stumps,
        paper=REFERENCE,
        formula=r"\sum_t \alpha_t\, 1[x_{j_t} > \theta_t]",
        fitted_by=dict.fromkeys(("rankboost", "frank"), "rankplug_classics.rankboost_engine:Stumps"),
        search="stumps[rounds=[20,50,100,200,400],thresholds=[16,64,255]]",
    ),
    ScorerSpecification(
        name="single_features",
        summary="a weighted sum of features, taken one at a time",
        parameters=SingleFeatures,
        paper=ADARANK,
        formula=r"\sum_t \alpha_t\, x_{j_t}",
        fitted_by={"adarank": "rankplug_classics.adarank_engine:SingleFeatures"},
        search="single_features[rounds=[5,10,20,50,100]]",
    ),
]
BACKENDS = [
    BackendSpecification(
        name="rankboost",
        summary="boosting of weak rankers, each chosen to agree best with the loss's weights of pairs",
        implementation="rankplug_classics.rankboost_engine:engine",
        paper=REFERENCE,
        default_scorer="stumps",
        same_bits=True,
    ),
    BackendSpecification(
        name="frank",
        summary="boosting of weak rankers, each chosen for the fidelity loss after its step; the step is derived here",
        implementation="rankplug_classics.frank_engine:engine",
        paper=FRANK,
        default_scorer="stumps",
        same_bits=True,
    ),
    BackendSpecification(
        name="adarank",
        summary="boosting of single features, each chosen by a measure over weighted lists",
        implementation="rankplug_classics.adarank_engine:engine",
        paper=ADARANK,
        default_scorer="single_features",
        same_bits=True,
    ),
]


NO_CUTOFF = 1 << 40


class MeanSquaredError(PaddedParameters):
    """Parameters of ``mse``; one probe of the hutchinson curvature is exact here, as documents do not interact."""

    curvature: Literal["ones", "hutchinson", "diagonal"] = Field("hutchinson", description="for boosting")


class BoltzRank(PaddedParameters):
    """Parameters of ``boltzrank``."""

    rankings: int = Field(50, ge=1, description="rankings drawn around the labels in each iteration")
    expected_gain: float = Field(0.5, ge=0, le=1, description="share of the expected NDCG, the rest is cross entropy")
    temperature: float = Field(1.0, gt=0, description="of the labels' own law of rankings")


class RankNet(Parameters):
    """Parameters of ``ranknet``."""

    sigma: float = Field(1.0, gt=0, description="steepness of the sigmoid")
    mean: bool = Field(False, description="divide each list by the number of its pairs")


class RankSVM(Parameters):
    """Parameters of ``ranksvm``."""

    margin: float = Field(1.0, ge=0, description="gap of scores from which on a pair costs nothing")
    squared: bool = Field(False, description="the square of the hinge, which has a derivative everywhere")


class RankBoost(Parameters):
    """Parameters of ``rankboost``."""

    pairs: Literal["all", "list"] = Field(
        "all", description="one law over the pairs of all lists, as Freund's, or one of equal weight within each list"
    )


class Fidelity(Parameters):
    """Parameters of ``fidelity``."""

    mean: bool = Field(True, description="divide each list by the number of its pairs")


class AdaRank(Parameters):
    """Parameters of ``adarank``."""

    measure: Literal["map", "ndcg"] = Field("map", description="what the exponential is of; labels of 1 count for map")
    at: int | None = Field(None, ge=1, description="cut-off of ndcg; none: the whole list")
    discount: Literal["log2", "jk"] = Field("log2", description="of ndcg's ranks; jk: 1 for the first two, as in LETOR")

    @property
    def places(self) -> int:
        """The cut-off, as a number."""
        return NO_CUTOFF if self.at is None else self.at


class ListMLE(Parameters):
    """Parameters of ``listmle``."""

    ties: Literal["shuffled", "stable"] = Field("shuffled", description="order of equal labels, anew each iteration")


class PositionAwareListMLE(ListMLE):
    """Parameters of ``p_listmle``."""

    alpha: Literal["scaled", "raw"] = Field("scaled", description="weights (2^(n-i) - 1) / 2^n, or without the divisor")


class LambdaLoss(Parameters):
    """Parameters of ``lambdaloss``."""

    variant: Literal["ndcg1", "ndcg2", "ndcg2pp"] = Field("ndcg2pp", description="which bound of NDCG")
    mu: float = Field(10.0, ge=0, description="share of the NDCG-Loss2 weights in ndcg2pp")
    sigma: float = Field(1.0, gt=0, description="steepness of the sigmoid")


class MDPRank(Parameters):
    """Parameters of ``mdprank``."""

    episodes: int = Field(1, ge=1, description="episodes drawn a list and iteration")
    discount: float = Field(1.0, ge=0, le=1, description="of later rewards, gamma")


class SoftRank(Parameters):
    """Parameters of ``softrank``."""

    sigma: float = Field(1.0, gt=0, description="standard deviation of the noise on each score")
    k: int | None = Field(None, ge=1, description="cut-off of NDCG; none for the whole list")

    @property
    def deepest(self) -> int:
        """The cut-off as a number."""
        return NO_CUTOFF if self.k is None else self.k


class SoftSpearman(Parameters):
    """Parameters of ``soft_spearman``."""

    epsilon: float = Field(1.0, gt=0, description="regularisation; ranks are hard where it goes to 0")


class YetiRank(Parameters):
    """Parameters of ``yetirank``."""

    permutations: int = Field(10, ge=1, description="permutations drawn a list and iteration")
    position_weight: Literal["geometric", "reciprocal"] = Field("geometric", description="decay^(r-1), or 1 / r")
    decay: float = Field(0.85, gt=0, le=1, description="of geometric position weights")


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
            MeanSquaredError,
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
            RankNet,
            convex=True,
            curvature="exact",
            module="logistic_pairs",
        ),
        _loss(
            "ranksvm",
            "hinge loss of every pair",
            "RankSVM, Joachims 2002",
            r"\sum_{y_i > y_j} \max(0, 1 - (f_i - f_j))",
            RankSVM,
            convex=True,
            curvature="surrogate",
        ),
        _loss(
            "rankboost",
            "exponential loss of every pair",
            "RankBoost, Freund et al. 2003",
            r"\sum_{y_i > y_j} e^{-(f_i - f_j)}",
            RankBoost,
            convex=True,
            curvature="surrogate",
        ),
        _loss(
            "fidelity",
            "fidelity loss of every pair, at most 1 each; the pairs of a list together weigh the same",
            FRANK,
            r"\frac1{\#}\sum_{y_i > y_j} \left(1 - \sqrt{\sigma(f_i - f_j)}\right)",
            Fidelity,
            curvature="surrogate",
        ),
        _loss(
            "adarank",
            "exponential of minus a measure; for engines other than its own, pushes of pairs as in LambdaRank",
            ADARANK,
            r"e^{-E(\pi(f), y)},\quad E = \mathrm{AP}\ \text{or}\ \mathrm{NDCG@k}",
            AdaRank,
            curvature="surrogate",
            gradient="lambda",
        ),
        _loss(
            "listmle",
            "likelihood of the order of the labels, ties in random order",
            "ListMLE, Xia et al. 2008",
            r"\sum_i \left[\log\sum_{j \ge i} e^{f_{(j)}} - f_{(i)}\right]",
            ListMLE,
            module="likelihoods",
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
            PositionAwareListMLE,
            module="likelihoods",
            convex=True,
            curvature="exact",
            needs=NOISE,
        ),
        _loss(
            "lambdaloss",
            "logistic pairs with weights that bound NDCG",
            "LambdaLoss, Wang et al. 2018",
            r"\sum_{y_i > y_j} (\rho_{ij} + \mu\delta_{ij}) |G_i - G_j| \log_2(1 + e^{-\sigma (f_i - f_j)})",
            LambdaLoss,
            curvature="exact",
            module="logistic_pairs",
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
            MDPRank,
            module="likelihoods",
            curvature="exact",
            needs=NOISE,
        ),
        _loss(
            "softrank",
            "expected NDCG under Gaussian noise of its own on every score",
            "SoftRank, Taylor et al. 2008",
            r"-\frac1{\mathrm{IDCG}}\sum_j (2^{y_j} - 1)\, E\left[\frac1{\log_2(1 + r_j)}\right]",
            SoftRank,
            longest=1500,
        ),
        _loss(
            "soft_spearman",
            "squared distance between soft ranks of the scores and ranks of the labels, as Spearman's correlation",
            "Fast differentiable sorting and ranking, Blondel et al. 2020",
            r"\tfrac12 \lVert r(f) - r(y) \rVert^2,\quad"
            r" r(f) = \operatorname{argmin}_{\mu \in \mathcal P(n, \dots, 1)} \lVert \mu + f / \epsilon \rVert^2",
            SoftSpearman,
            curvature="exact",
        ),
        _loss(
            "yetirank",
            "logistic loss of pairs that logistic noise makes neighbours",
            "YetiRank, Gulin et al. 2011",
            r"\sum_{i,j} w_{ij} \log(1 + e^{-(f_i - f_j)}),\quad"
            r" w_{ij} = E\left[|y_i - y_j| \sum_r \mathrm{decay}^{r-1}\, 1[i, j \text{ at } r, r+1]\right]",
            YetiRank,
            curvature="exact",
            needs=NOISE,
            module="logistic_pairs",
        ),
        _loss(
            "boltzrank",
            "expected NDCG and cross entropy under a Boltzmann law of rankings, without its pairwise potentials",
            "BoltzRank, Volkovs and Zemel 2009",
            r"-\lambda\,E_P[\mathrm{NDCG}] - (1-\lambda)\sum_R Q(R)\log P(R),\quad"
            r" P(R) \propto \exp\tfrac{2}{n(n-1)}\sum_i (n-1-2r_i) f_i",
            BoltzRank,
            needs=NOISE,
        ),
    ]


@hookimpl
def rankplug_scorers() -> list[ScorerSpecification]:
    """Offer the scorers."""
    return SCORERS


@hookimpl
def rankplug_backends() -> list[BackendSpecification]:
    """Offer the backends."""
    return BACKENDS
