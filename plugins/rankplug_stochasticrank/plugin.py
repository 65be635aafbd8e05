"""Specification of this package: the loss ``stochastic_rank``."""

from __future__ import annotations

from pydantic import Field

from rankplug import LossSpecification, Parameters, hookimpl

NO_CUTOFF = 1 << 40


class StochasticRank(Parameters):
    """Parameters of ``stochastic_rank``."""

    sigma: float = Field(1.0, gt=0, description="standard deviation of the noise on each score")
    samples: int = Field(1, ge=1, description="noisy score vectors drawn a list and iteration")
    k: int | None = Field(None, ge=1, description="cut-off of NDCG; none for the whole list")

    @property
    def deepest(self) -> int:
        """The cut-off as a number."""
        return NO_CUTOFF if self.k is None else self.k


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
