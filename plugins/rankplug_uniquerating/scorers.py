"""The paper's scorers: parameters and specifications, kept apart from their code so that listing them is light."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from rankplug import Parameters, Reference, ScorerSpecification
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
