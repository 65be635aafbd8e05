"""Specifications of this package: the losses, a transform and the study of unique ratings."""

from __future__ import annotations

import sys
from typing import Any, Literal

from pydantic import Field, field_validator

from rankplug import (
    LossSpecification,
    Parameters,
    Reference,
    ScorerSpecification,
    StudySpecification,
    TransformSpecification,
    hookimpl,
)
from rankplug.registry import parse

PAPER = "uniquerating"


class ConditionalRNNParameters(Parameters):
    """Parameters of ``conditional_rnn``."""

    layers: tuple[int, ...] = Field((100, 50), min_length=1, description="widths of the embedding's layers")
    activation: Literal["relu", "elu", "tanh"] = Field("elu", description="after each layer of the embedding")
    rnn: Literal["concat", "state", "gru", "lstm"] = Field(
        "concat", description="score state and embedding (C2) or the state (C1); gru, lstm: as concat, with such a cell"
    )
    pooling: Literal["max", "mean"] = Field("max", description="of a step's documents into the next state")
    batch_norm: bool = Field(False, description="normalise before each activation")
    input_batch_norm: bool = Field(False, description="normalise the features")
    momentum: float = Field(0.1, gt=0, le=1, description="share of a batch in the running mean")
    dropout: float = Field(0.0, ge=0, lt=1, description="share of the embedding left out")
    initialisation: Literal["torch", "glorot"] = Field("torch", description="law of the first weights")


class UBoost(Parameters):
    """Parameters of ``uboost``."""

    scorer: str | Reference = Field(parse("mlp[layers=(100,50),activation=elu]"), description="the networks")
    first: str | Reference | None = Field(None, description="the first network, where it is another")
    learners: int = Field(5, ge=1, description="networks at most")
    rate: float = Field(1.0, gt=0, description="factor on each network that is added")


class UrBoost(UBoost):
    """Parameters of ``urboost``."""

    first: str | Reference | None = Field("conditional_rnn", description="the first network")


SCORERS = [
    ScorerSpecification(
        name="conditional_rnn",
        summary="a recurrent network over the ratings of a list (urRank)",
        parameters=ConditionalRNNParameters,
        paper=PAPER,
        formula=r"f_t(d) = [\tanh(h_{t-1}W + \tilde x(d)U + b), \tilde x(d)]\,w",
        fitted_by={"torch": "rankplug_uniquerating.conditional_rnn:ConditionalRNN"},
    ),
    ScorerSpecification(
        name="sequential_rnn",
        summary="the same network, which predicts one document after the other",
        parameters=ConditionalRNNParameters,
        paper=PAPER,
        formula=r"f(d) = [\tanh(hW + \tilde x(d)U + b), \tilde x(d)]\,w,\quad h = \tilde h(d_{\mathrm{last}})",
        fitted_by={"torch": "rankplug_uniquerating.conditional_rnn:SequentialRNN"},
    ),
    ScorerSpecification(
        name="uboost",
        summary="boosted networks as in uBoost",
        parameters=UBoost,
        paper=PAPER,
        formula=r"F_m = F_{m-1} + h_m,\quad h_m \approx -\partial L/\partial F_{m-1}",
        fitted_by={"torch": "rankplug_torch.boosted:boosted"},
    ),
    ScorerSpecification(
        name="urboost",
        summary="boosted networks whose first is a conditional RNN, as in urBoost",
        parameters=UrBoost,
        paper=PAPER,
        formula=r"F_m = F_{m-1} + h_m,\quad F_0 = f_1",
        fitted_by={"torch": "rankplug_torch.boosted:boosted"},
    ),
]


class URank(Parameters):
    """Parameters of ``urank``."""

    window: int | None = Field(None, ge=1, description="competitors in a window of the likelihood; none: all at once")

    @property
    def width(self) -> int:
        """The window, as a number."""
        return sys.maxsize if self.window is None else self.window


class UMart(URank):
    """Parameters of ``umart``."""

    window: int | None = Field(2, ge=1, description="competitors in a window of the likelihood; none: all at once")
    sigma: float = Field(2.0, gt=0, description="steepness of the likelihood")
    hessian: Literal["released", "true"] = Field(
        "released", description="released: sigma^3 as in the authors' code; true: sigma^2"
    )
    normalise: bool = Field(True, description="divide by score gaps, as LightGBM may")
    idcg_at: int | None = Field(None, ge=1, description="cut-off of the ideal DCG; none: the whole list")

    @field_validator("hessian", mode="before")
    @classmethod
    def _word(cls, value: Any) -> Any:
        """Read the word true as such, which is a truth value where plugins are named by text."""
        return "true" if value is True else value

    @property
    def deepest(self) -> int:
        """The cut-off of the ideal DCG, as a number."""
        return sys.maxsize if self.idcg_at is None else self.idcg_at


class Sparsity(Parameters):
    """Parameters of ``sparse_features``."""

    share: float = Field(0.8, ge=0, lt=1, description="share of the training documents whose feature becomes 0")


@hookimpl
def rankplug_losses() -> list[LossSpecification]:
    """Offer the losses."""
    return [
        LossSpecification(
            name="urank",
            summary="rank each document above all of lower rating; with a window, above a few at a time",
            implementation="rankplug_uniquerating.urank:urank",
            parameters=URank,
            paper=PAPER,
            formula=r"-\frac{1}{R-1}\sum_{y_d>\min y}(2^{y_d}-1)"
            r"\log\frac{e^{f_d}}{e^{f_d}+\sum_{y_{d'}<y_d}e^{f_{d'}}}",
            convex=True,
            curvature="exact",
        ),
        LossSpecification(
            name="umart",
            summary="windowed likelihood weighted by the change of NDCG; LambdaMART where the window is 1",
            implementation="rankplug_uniquerating.umart:umart",
            parameters=UMart,
            paper=PAPER,
            formula=r"\frac{\partial\ell}{\partial f_d} = -\sigma\sum_{y_{d'}<y_d}\Delta Z_{dd'}"
            r"\frac{e^{\sigma f_{d'}}}{e^{\sigma f_d}+\sum_{b\ni d'}e^{\sigma f_b}}"
            r" + \sigma\sum_{y_c>y_d}\Delta Z_{cd}\frac{e^{\sigma f_d}}{e^{\sigma f_c}+\sum_{b\ni d}e^{\sigma f_b}}",
            curvature="surrogate",
            gradient="lambda",
        ),
    ]


@hookimpl
def rankplug_scorers() -> list[ScorerSpecification]:
    """Offer the scorers."""
    return SCORERS


@hookimpl
def rankplug_transforms() -> list[TransformSpecification]:
    """Offer the transforms."""
    return [
        TransformSpecification(
            name="validate_on_test",
            summary="validate on the test part, the protocol of Table 6; never to report new numbers",
            implementation="rankplug_uniquerating.transforms:validate_on_test",
            parts=("valid",),
            paper=PAPER,
        ),
        TransformSpecification(
            name="minmax",
            summary="scale each feature to [0, 1] over all training documents",
            implementation="rankplug_uniquerating.transforms:minmax",
            formula=r"(x - \min_\text{train}) / (\max_\text{train} - \min_\text{train})",
            paper=PAPER,
            by_query=True,
        ),
        TransformSpecification(
            name="sparse_features",
            summary="make each feature 0 for most documents, to see what sparsity alone does",
            implementation="rankplug_uniquerating.transforms:sparse_features",
            parameters=Sparsity,
            formula=r"\max(0, x - q_\text{train})",
            paper=PAPER,
            by_query=True,
        ),
    ]


@hookimpl
def rankplug_studies() -> list[StudySpecification]:
    """Offer the studies."""
    return [
        StudySpecification(
            name="uniquerating",
            summary="uRank, uBoost, urBoost and uMart: tables 1-6 and figure 1, timing, and what the tables leave open",
            implementation="rankplug_uniquerating.study:study",
            paper=PAPER,
        )
    ]
