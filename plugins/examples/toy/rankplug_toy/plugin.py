"""Hooks that say what this package offers; the study itself is imported when it is used."""

from rankplug import StudySpecification, hookimpl


@hookimpl
def rankplug_studies() -> list[StudySpecification]:
    """Offer the study."""
    return [
        StudySpecification(
            name="toy",
            summary="the paper run again: one figure, one table, two claims",
            implementation="rankplug_toy.study:study",
        )
    ]
