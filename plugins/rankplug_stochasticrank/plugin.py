"""Specification of this package: the loss ``stochastic_rank``."""

from __future__ import annotations

from rankplug import LossSpecification, hookimpl
from rankplug_stochasticrank.parameters import StochasticRank


@hookimpl
def rankplug_losses() -> list[LossSpecification]:
    """Offer the losses."""
    return [
        LossSpecification(
            name="stochastic_rank",
            summary="expected NDCG under Gaussian noise, unbiased gradient; without the paper's boosting and its shift",
            paper="StochasticRank, Ustimenko and Prokhorenkova 2020",
            formula=r"-E_{\varepsilon}\left[\mathrm{NDCG}(f + \sigma\varepsilon)\right],\quad \partial_i ="
            r" -E_{\varepsilon}\left[\sum_{j \ne i} \phi_\sigma(f_j + \sigma\varepsilon_j - f_i)\,"
            r" \Delta_{ij}\mathrm{NDCG}\right]",
            parameters=StochasticRank,
            implementation="rankplug_stochasticrank.conditional_sampling:stochastic_rank",
            shift_invariant=False,
            gradient="lambda",
            needs=frozenset({"noise"}),
        )
    ]
