"""Specification of the loss ``permutahedron``."""

from pydantic import Field
from rankplug import LossSpecification, Parameters, hookimpl


class Permutahedron(Parameters):
    """Parameters of ``permutahedron``."""

    softness: float = Field(1.0, gt=0, description="weight of the regulariser; the smaller, the harder the ranks")


@hookimpl
def rankplug_losses() -> list[LossSpecification]:
    """Offer the losses."""
    return [
        LossSpecification(
            name="permutahedron",
            summary="Fenchel-Young loss between soft ranks and the labels' ranks",
            implementation="rankplug_permutahedron.loss:permutahedron",
            parameters=Permutahedron,
            paper="Blondel, Martins, Niculae, JMLR 2020",
            formula=r"\max_{\mu\in P}\left(\mu^\top f-\tfrac{\epsilon}{2}\|\mu\|^2\right)"
            r"-\left(t^\top f-\tfrac{\epsilon}{2}\|t\|^2\right)",
            convex=True,
            curvature="surrogate",
        )
    ]
