"""Specifications of this package: the backend XGBoost."""

from __future__ import annotations

from pydantic import Field

from rankplug import BackendSpecification, Parameters, hookimpl


class XGBoostParameters(Parameters):
    """Parameters of ``xgboost``."""

    native: bool = Field(False, description="XGBoost's own objective in place of ours: lambdarank and ranknet")


@hookimpl
def rankplug_backends() -> list[BackendSpecification]:
    """Offer the backends."""
    return [
        BackendSpecification(
            name="xgboost",
            summary="gradient-boosted trees and linear models by XGBoost",
            implementation="rankplug_xgboost.backend:engine",
            parameters=XGBoostParameters,
            requires=("xgboost",),
            default_scorer="trees",
            missing_values=True,
            categorical=True,
            same_bits=True,
            exports={"xgboost_objective": "rankplug_xgboost.objective:xgboost_objective"},
        )
    ]
