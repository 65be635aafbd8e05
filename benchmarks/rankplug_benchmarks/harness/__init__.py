"""Measuring beside other libraries: contestants by turns, medians with their spread, targets, tables and figures.

A subject is a module that yields :class:`~rankplug_benchmarks.harness.measurements.Measurement` and
:class:`~rankplug_benchmarks.harness.measurements.Curve`; packages offer subjects by the entry-point group
``rankplug.benchmarks``. ``rankplug bench`` runs them and keeps what they found as JSON, and the tables and figures of
the documentation are made from those files alone.
"""
