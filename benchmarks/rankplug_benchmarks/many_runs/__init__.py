"""Sweeps, stores, notebooks and the schedules of whole papers."""
