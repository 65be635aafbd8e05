"""Baselines the papers compare with or build on."""
