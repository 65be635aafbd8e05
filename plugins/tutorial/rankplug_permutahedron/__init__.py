"""The loss permutahedron for rankplug."""
