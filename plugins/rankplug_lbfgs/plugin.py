"""Specifications of this package: the backends L-BFGS and cutting planes."""

from __future__ import annotations

from pydantic import Field

from rankplug import BackendSpecification, Parameters, hookimpl
from rankplug.data import ScalingKind


class LBFGSParameters(Parameters):
    """Parameters of ``lbfgs``."""

    C: float | tuple[float, ...] = Field(
        0.1, description="the objective is the sum of the lists' losses + |w|^2/C; of several, validation chooses"
    )
    iterations: int = Field(200, ge=1, description="steps of a run at most")
    restarts: int | None = Field(
        None, ge=0, description="random starts beside w=0, the best objective wins; 9 for losses that are not convex"
    )
    tolerance: float = Field(1e-8, gt=0, description="relative change of the objective that ends a run")
    scaling: ScalingKind | None = Field(
        "log", description="of features, part of the model: mean 0 and deviation 1, also of their logarithms, or none"
    )


class CuttingPlanesParameters(Parameters):
    """Parameters of ``cutting_planes``."""

    C: float | tuple[float, ...] = Field(
        0.1, description="the objective is the sum of the lists' losses + |w|^2/C; of several, validation chooses"
    )
    planes: int = Field(300, ge=1, description="cutting planes at most")
    tolerance: float = Field(1e-3, gt=0, description="relative gap to the lower bound that ends a run")
    scaling: ScalingKind | None = Field(
        "log", description="of features, part of the model: mean 0 and deviation 1, also of their logarithms, or none"
    )


@hookimpl
def rankplug_backends() -> list[BackendSpecification]:
    """Offer the backends."""
    return [
        BackendSpecification(
            name="lbfgs",
            summary="linear scorers by L-BFGS on all lists at once",
            implementation="rankplug_lbfgs.lbfgs:engine",
            parameters=LBFGSParameters,
            requires=("scipy",),
            default_scorer="linear",
            search="lbfgs[C=[0.001,0.003,0.01,0.03,0.1,0.3,1,3,10,30,100,1000],scaling=[none,standard,log]]",
            same_bits=True,
        ),
        BackendSpecification(
            name="cutting_planes",
            summary="linear scorers for convex losses with kinks, such as structured hinges, by cutting planes",
            implementation="rankplug_lbfgs.cutting_planes:engine",
            parameters=CuttingPlanesParameters,
            requires=("scipy",),
            default_scorer="linear",
            search="cutting_planes[C=[0.001,0.003,0.01,0.03,0.1,0.3,1,3,10,30,100,1000],scaling=[none,standard,log]]",
            same_bits=True,
            paper="Teo, Vishwanathan, Smola, Le, Bundle methods for regularized risk minimization, JMLR 2010",
        ),
    ]
