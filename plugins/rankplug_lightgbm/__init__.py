"""Gradient-boosted trees by LightGBM."""
