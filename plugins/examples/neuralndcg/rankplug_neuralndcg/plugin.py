"""Hooks that say what this package offers; the study itself is imported when it is used."""

from rankplug import StudySpecification, hookimpl


@hookimpl
def rankplug_studies() -> list[StudySpecification]:
    """Offer the study."""
    return [
        StudySpecification(
            name="neuralndcg",
            summary="NDCG relaxed by NeuralSort as a loss: quality, learning curves, small temperatures",
            implementation="rankplug_neuralndcg.study:study",
        )
    ]
