"""Hypothesis spaces that more than one backend can fit."""
