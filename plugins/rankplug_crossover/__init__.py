"""Combinations of the four papers' parts that none of them published."""
