"""The version of rankplug."""

__version__ = "0.1.0"
