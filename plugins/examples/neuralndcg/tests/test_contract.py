"""The study keeps rankplug's contract."""

from rankplug.testing import StudyContract


class TestNeuralndcg(StudyContract):
    study = "neuralndcg"
