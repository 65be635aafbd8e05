"""Specifications of this package: the backend LightGBM."""

from __future__ import annotations

from pydantic import Field

from rankplug import BackendSpecification, Parameters, hookimpl


class LightGBMParameters(Parameters):
    """Parameters of ``lightgbm``."""

    native: bool = Field(False, description="LightGBM's own objective in place of ours: lambdarank and xe_ndcg")
    deterministic: bool = Field(True, description="the same trees whatever the number of threads")


@hookimpl
def rankplug_backends() -> list[BackendSpecification]:
    """Offer the backends."""
    return [
        BackendSpecification(
            name="lightgbm",
            summary="gradient-boosted trees by LightGBM",
            implementation="rankplug_lightgbm.backend:engine",
            parameters=LightGBMParameters,
            requires=("lightgbm",),
            default_scorer="trees",
            missing_values=True,
            categorical=True,
            same_bits=True,
            exports={"lightgbm_objective": "rankplug_lightgbm.objective:lightgbm_objective"},
        )
    ]
