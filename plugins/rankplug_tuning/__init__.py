"""Search for the parameters of a model: ``rankplug.tune`` and ``rankplug tune``."""
