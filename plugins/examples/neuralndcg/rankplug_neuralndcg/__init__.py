"""The study neuralndcg for rankplug."""
