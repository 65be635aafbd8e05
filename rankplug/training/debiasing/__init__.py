"""Debiasing of clicks, around what a backend fits."""
