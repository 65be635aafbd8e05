"""The study keeps rankplug's contract."""

from rankplug.testing import StudyContract


class TestToy(StudyContract):
    study = "toy"
