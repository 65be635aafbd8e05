"""Specifications of this package: the backend PyTorch, and scorers that are networks."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from rankplug import BackendSpecification, Parameters, Reference, ScorerSpecification, hookimpl
from rankplug.data import ScalingKind

Share = Annotated[float, Field(ge=0, lt=1)]


class TorchParameters(Parameters):
    """Parameters of ``torch``."""

    optimiser: Literal["adam", "adagrad", "sgd"] = Field("adam", description="rule of the steps")
    lr: float = Field(3e-3, gt=0, description="learning rate")
    schedule: Literal["cosine", "constant"] = Field(
        "cosine", description="the learning rate falls to 0 along half a wave, or stays"
    )
    epochs: int | None = Field(None, ge=1, description="passes over the training lists, in place of steps")
    steps: int | None = Field(
        None, ge=1, description="steps in all; 1,000 or ten epochs, whichever is more, where epochs is none too"
    )
    batch: int = Field(16, ge=1, description="lists a step")
    reduction: Literal["mean", "sum"] = Field("mean", description="of the lists' losses in a step")
    shuffle: bool = Field(True, description="a new order of the lists in each epoch")
    clip: float | None = Field(None, gt=0, description="largest norm of a step's gradient")
    l2: float = Field(1e-3, ge=0, description="weight decay")
    momentum: float = Field(0.0, ge=0, lt=1, description="of sgd")
    initial_accumulator: float = Field(0.1, ge=0, description="of adagrad, 0.1 as in TensorFlow")
    autocast: bool = Field(
        False,
        description="matrix products of training and validation in bfloat16; scores are float32, and so is prediction",
    )
    device: str = Field("cpu", description="where the network runs, such as cuda:0; the loss is computed on the CPU")
    scaling: ScalingKind | None = Field(
        "log", description="of features, part of the model: mean 0 and deviation 1, also of their logarithms, or none"
    )

    @model_validator(mode="after")
    def _is_counted_in_one_unit(self) -> TorchParameters:
        if self.epochs is not None and self.steps is not None:
            raise ValueError("training is counted in epochs or in steps, not in both")
        return self


class Network(Parameters):
    """Parameters of ``mlp``."""

    layers: tuple[int, ...] = Field((64, 32), description="widths of the hidden layers")
    activation: Literal["relu", "elu", "tanh"] = Field("relu", description="after each hidden layer")
    output_activation: Literal["none", "relu", "elu", "tanh"] = Field("none", description="of the score")
    batch_norm: bool = Field(False, description="normalise before each activation")
    input_batch_norm: bool = Field(False, description="normalise the features")
    momentum: float = Field(0.1, gt=0, le=1, description="share of a batch in the running mean (1 - TensorFlow's)")
    dropout: Share | tuple[Share, ...] = Field(
        0.0, description="share of the last hidden layer's outputs left out; of several, of each layer's"
    )
    initialisation: Literal["torch", "glorot"] = Field("torch", description="law of the first weights")

    @model_validator(mode="after")
    def _has_a_share_for_each_layer(self) -> Network:
        if isinstance(self.dropout, tuple) and len(self.dropout) != len(self.layers):
            counts = f"{len(self.dropout)} shares for {len(self.layers)} hidden layers"
            raise ValueError(f"dropout has {counts}; give one for each, or a single one for the last")
        return self


class Attention(Parameters):
    """Parameters of ``attention``."""

    width: int = Field(32, ge=1, description="size of a document's embedding")
    heads: int = Field(2, ge=1, description="attention heads; they divide the width")
    blocks: int = Field(1, ge=1, description="attention layers")
    dropout: float = Field(0.0, ge=0, lt=1, description="share of each block's outputs left out")


class BoostingParameters(Parameters):
    """Parameters of ``boosted``."""

    scorer: str | Reference = Field("mlp", description="the networks that are added")
    first: str | Reference | None = Field(None, description="the first network, where it is another")
    learners: int = Field(5, ge=1, description="networks at most")
    rate: float = Field(1.0, gt=0, description="factor on each network that is added")


@hookimpl
def rankplug_backends() -> list[BackendSpecification]:
    """Offer the backends."""
    return [
        BackendSpecification(
            name="torch",
            summary="networks by PyTorch, on packed documents",
            implementation="rankplug_torch.backend:engine",
            parameters=TorchParameters,
            requires=("torch", "safetensors"),
            default_scorer="mlp",
            search="torch[lr=[0.001,0.003,0.01],batch=[8,16,32],l2=[0,1e-5,1e-4,1e-3],steps=[500,1000,2000]]",
            exports={
                "TorchLoss": "rankplug_torch.loss_modules:TorchLoss",
                "torch_loss": "rankplug_torch.loss_modules:torch_loss",
            },
        )
    ]


@hookimpl
def rankplug_scorers() -> list[ScorerSpecification]:
    """Offer the scorers that only this backend fits."""
    return [
        ScorerSpecification(
            name="mlp",
            summary="a feed-forward network",
            parameters=Network,
            formula=r"w^\top \phi(W_k \cdots \phi(W_1 x + b_1) + b_k) + b",
            fitted_by={"torch": "rankplug_torch.networks:mlp"},
            search="mlp[layers=[(32,),(64,32),(128,64)],dropout=[0,0.2,0.5],batch_norm=[false,true]]",
        ),
        ScorerSpecification(
            name="boosted",
            summary="networks added one by one, each fitted to the loss's residuals",
            parameters=BoostingParameters,
            formula=r"F_0(x) + \rho\sum_m h_m(x)",
            fitted_by={"torch": "rankplug_torch.boosted:boosted"},
        ),
        ScorerSpecification(
            name="attention",
            summary="self-attention between the documents of a list",
            parameters=Attention,
            fitted_by={"torch": "rankplug_torch.networks:AttentionScorer"},
        ),
    ]
