"""The study toy for rankplug."""
