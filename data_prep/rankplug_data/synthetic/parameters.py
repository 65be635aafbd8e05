"""Parameters of the made data set."""

from __future__ import annotations

from pydantic import Field

from rankplug.registry import Parameters
from rankplug_data.synthetic.shapes import ShapeName


class SyntheticParameters(Parameters):
    """Parameters of the made data set."""

    shape: ShapeName = Field("mslr", description="collection that features, lists and labels take after")
    queries: int = Field(600, ge=5, description="training, validation and test together, split 60/20/20")
    documents: float | None = Field(None, ge=1, le=10_000, description="mean length of a list; the shape's when none")
    noise: float = Field(1.0, ge=0, description="deviation of the judges' noise, relative to the shape's")
    sample: int | None = Field(None, ge=0, description="which queries are drawn; the trial's seed decides when none")
    replica: int | None = Field(
        None, ge=1, description="number of an independent collection of the same shape, with other queries at each seed"
    )
    test_queries: int | None = Field(None, ge=1, description="queries of the test part, in place of its 20 %")
    valid_queries: int | None = Field(None, ge=1, description="queries of the validation part, in place of its 20 %")
    editions: int | None = Field(
        None, ge=1, description="how often every measure is taken, each time with more noise; as in the shape when none"
    )

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Numbers of queries for training, validation and test."""
        outside = self.queries // 5
        return self.queries - 2 * outside, self.valid_queries or outside, self.test_queries or outside
