"""Plain networks take the steps that PyTorch's own record of operations and its optimiser take, bit for bit."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch
from rankplug_torch import plain_steps
from rankplug_torch.networks import OneColumn
from rankplug_torch.plain_steps import PlainSteps, are_plain
from rankplug_torch.plugin import TorchParameters
from torch import nn

import rankplug as rp


def network(activation=nn.ELU, widths=(13, 7), features=5):
    """Return layers with an activation, the last without."""
    torch.manual_seed(1)
    layers = []
    for width in widths:
        layers += [nn.Linear(features, width), activation()]
        features = width
    return nn.Sequential(*layers, nn.Linear(features, 1), nn.Identity(), OneColumn())


def linear():
    return nn.Sequential(nn.Linear(5, 1, bias=False), OneColumn())


@pytest.mark.parametrize("clip", [None, 0.05])
@pytest.mark.parametrize("l2", [0.0, 0.01])
@pytest.mark.parametrize(
    "ours",
    [network(), network(nn.ReLU), network(nn.Tanh, (4,)), network(widths=()), network(widths=(200, 200)), linear()],
    ids=["elu", "relu", "tanh", "no hidden layer", "wide", "linear"],
)
def test_steps_are_those_of_autograd_and_pytorchs_adam(ours, l2, clip):
    ours, theirs = copy.deepcopy(ours), copy.deepcopy(ours)
    plain = PlainSteps(ours, TorchParameters(l2=l2, clip=clip))
    adam = torch.optim.Adam(theirs.parameters(), lr=0.1, weight_decay=l2, fused=True)
    for step, documents in enumerate((1, 2, 7, 120, 33)):
        features, gradient = torch.randn(documents, 5), torch.randn(documents)
        rate = 0.1 / (1 + step)
        expected = theirs(features)
        np.testing.assert_array_equal(plain.scores(features), expected.detach())
        plain.step(gradient, rate)
        adam.zero_grad()
        expected.backward(gradient)
        if clip is not None:
            torch.nn.utils.clip_grad_norm_(theirs.parameters(), clip)
        adam.param_groups[0]["lr"] = rate
        adam.step()
        for weight, other in zip(ours.parameters(), theirs.parameters(), strict=True):
            np.testing.assert_array_equal(weight.detach(), other.detach())


def _shared():
    layer = nn.Linear(5, 5)
    return nn.Sequential(layer, nn.ELU(), layer)


def _frozen():
    frozen = network()
    frozen[0].weight.requires_grad_(False)
    return frozen


def _hooked(where):
    hooked = network()
    getattr(hooked[0], where)(lambda *told: None)
    return hooked


@pytest.mark.parametrize(
    "other",
    [
        nn.Sequential(nn.Linear(5, 1), nn.Dropout(0.5)),
        nn.Sequential(nn.BatchNorm1d(5), nn.Linear(5, 1)),
        nn.Sequential(nn.Linear(5, 4), nn.ReLU(inplace=True), nn.Linear(4, 1)),
        _shared(),
        _frozen(),
        _hooked("register_forward_hook"),
        _hooked("register_full_backward_hook"),
    ],
    ids=lambda other: None,
)
def test_other_networks_go_the_usual_way(other):
    assert are_plain(network())
    assert not are_plain(other)


@pytest.mark.parametrize("scorer", ["mlp[layers=(8,4),activation=elu]", "linear", "boosted[scorer=mlp[layers=(6,)]]"])
def test_a_training_is_the_same_with_and_without(scorer, monkeypatch):
    data = rp.load("synthetic[shape=ohsumed,queries=20,documents=9]")
    backend = "torch[batch=1,clip=1.0,epochs=3,lr=0.01]"

    def scores():
        return rp.fit(backend, scorer=scorer, loss="cross_entropy", train=data.train, valid=data.valid).predict(
            data.test
        )

    plain, asked = scores(), []
    monkeypatch.setattr(plain_steps, "plain_steps_of", lambda *told: asked.append(told))
    np.testing.assert_array_equal(plain, scores())
    assert asked
