"""Losses in the user's own PyTorch loop."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import rankplug as rp

LABELS, STARTS = np.array([3.0, 0.0, 1.0, 2.0, 0.0, 1.0, 2.0]), np.array([0, 4, 7])
SCORES = np.array([0.2, 0.5, -0.1, 0.3, 1.0, -1.0, 0.25])
LOSSES = ["cross_entropy", "mse"]


def written_in_torch(scores: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return -(labels / labels.sum() * scores.log_softmax(0)).sum()


def leaf(dtype: torch.dtype = torch.float64) -> torch.Tensor:
    return torch.tensor(SCORES, dtype=dtype, requires_grad=True)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_value_and_gradient_are_those_of_the_loss_written_in_torch(dtype, reduction) -> None:
    ours, theirs = leaf(dtype), leaf()
    labels = torch.tensor(LABELS)
    values = torch.stack([written_in_torch(theirs[:4], labels[:4]), written_in_torch(theirs[4:], labels[4:])])
    value = rp.torch_loss("cross_entropy", reduction=reduction)(ours, LABELS, STARTS)
    expected = values if reduction == "none" else getattr(values, reduction)()
    assert value.dtype == dtype
    torch.testing.assert_close(value.double(), expected, rtol=1e-6, atol=1e-6)
    upstream = torch.tensor([0.5, -2.0]) if reduction == "none" else torch.tensor(3.0)
    value.backward(upstream.to(dtype))
    expected.backward(upstream.double())
    assert ours.grad is not None and ours.grad.dtype == dtype
    torch.testing.assert_close(ours.grad.double(), theirs.grad, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
def test_gradcheck(loss) -> None:
    module = rp.torch_loss(loss, reduction="none")
    assert torch.autograd.gradcheck(lambda scores: module(scores, LABELS, STARTS), (leaf(),))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_scores_from_autocast_give_a_float32_value_and_a_gradient_in_kind(dtype) -> None:
    network = torch.nn.Linear(3, 1)
    features = torch.randn(7, 3, generator=torch.Generator().manual_seed(0))
    with torch.autocast("cpu", dtype=dtype):
        scores = network(features).squeeze(1)
        assert scores.dtype == dtype
        scores.retain_grad()
        value = rp.torch_loss("mse")(scores, LABELS, STARTS)
        value.backward()
    assert value.dtype == torch.float32
    assert scores.grad is not None and scores.grad.dtype == dtype
    expected = rp.loss("mse").evaluate(scores.detach().float().numpy(), LABELS, STARTS)
    assert value.item() == pytest.approx(expected.value.mean(), rel=1e-6)
    np.testing.assert_allclose(scores.grad.float().numpy(), expected.gradient / 2, rtol=1e-2)
    assert network.weight.grad is not None and torch.isfinite(network.weight.grad).all()


@pytest.mark.parametrize("loss", LOSSES)
def test_padded_and_packed_lists_agree_and_padding_is_never_read(loss) -> None:
    mask = torch.tensor([[1, 1, 0, 1, 1], [0, 0, 0, 0, 0], [1, 0, 1, 1, 0]]).bool()
    padded = torch.full(mask.shape, torch.nan, dtype=torch.float64)
    padded[mask] = torch.tensor(SCORES)
    padded.requires_grad_(True)
    labels = torch.full(mask.shape, -1.0, dtype=torch.float64)
    labels[mask] = torch.tensor(LABELS)
    weights = torch.tensor([2.0, 7.0, 0.5])
    module = rp.torch_loss(loss, reduction="none")
    values = module.from_padded(padded, labels, mask, weights)
    packed = leaf()
    expected = module(packed, LABELS, STARTS, weights[[0, 2]])
    torch.testing.assert_close(values[[0, 2]], expected)
    assert values[1] == 0
    values.sum().backward()
    expected.sum().backward()
    torch.testing.assert_close(padded.grad[mask], packed.grad)
    assert (padded.grad[~mask] == 0).all()


def test_document_weights_go_through_padding() -> None:
    mask = torch.tensor([[1, 1, 1, 1], [1, 1, 1, 0]]).bool()
    weights = torch.rand(2, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    padded, labels = torch.zeros(2, 4, dtype=torch.float64), torch.zeros(2, 4, dtype=torch.float64)
    padded[mask], labels[mask] = torch.tensor(SCORES), torch.tensor(LABELS)
    padded.requires_grad_(True)
    rp.torch_loss("mse", reduction="sum").from_padded(padded, labels, mask, weights).backward()
    shares = weights[mask].numpy() / np.repeat([4, 3], [4, 3])
    np.testing.assert_allclose(padded.grad[mask].numpy(), 2 * shares * (SCORES - LABELS))


def test_a_resumed_module_goes_on_with_the_noise() -> None:
    module = rp.torch_loss("cross_entropy", "gumbel[samples=2]")
    module(leaf(), LABELS, STARTS)
    resumed = rp.torch_loss("cross_entropy", "gumbel[samples=2]")
    resumed.load_state_dict(module.state_dict())
    assert resumed(leaf(), LABELS, STARTS).item() == module(leaf(), LABELS, STARTS).item()
