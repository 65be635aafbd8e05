"""Metrics of ranking quality."""
