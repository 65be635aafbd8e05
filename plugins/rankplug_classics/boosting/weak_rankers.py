"""Weak rankers and the backends that boost them: parameters and specifications."""

from __future__ import annotations

from pydantic import Field

from rankplug import BackendSpecification, Parameters, ScorerSpecification

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
        fitted_by=dict.fromkeys(("rankboost", "frank"), "rankplug_classics.boosting.stumps:Stumps"),
        search="stumps[rounds=[20,50,100,200,400],thresholds=[16,64,255]]",
    ),
    ScorerSpecification(
        name="single_features",
        summary="a weighted sum of features, taken one at a time",
        parameters=SingleFeatures,
        paper=ADARANK,
        formula=r"\sum_t \alpha_t\, x_{j_t}",
        fitted_by={"adarank": "rankplug_classics.boosting.single_features:SingleFeatures"},
        search="single_features[rounds=[5,10,20,50,100]]",
    ),
]
BACKENDS = [
    BackendSpecification(
        name="rankboost",
        summary="boosting of weak rankers, each chosen to agree best with the loss's weights of pairs",
        implementation="rankplug_classics.boosting.rankboost_engine:engine",
        paper=REFERENCE,
        default_scorer="stumps",
        same_bits=True,
    ),
    BackendSpecification(
        name="frank",
        summary="boosting of weak rankers, each chosen for the fidelity loss after its step; the step is derived here",
        implementation="rankplug_classics.boosting.frank_engine:engine",
        paper=FRANK,
        default_scorer="stumps",
        same_bits=True,
    ),
    BackendSpecification(
        name="adarank",
        summary="boosting of single features, each chosen by a measure over weighted lists",
        implementation="rankplug_classics.boosting.adarank_engine:engine",
        paper=ADARANK,
        default_scorer="single_features",
        same_bits=True,
    ),
]
