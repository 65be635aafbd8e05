"""LETOR 2.0's own baselines on OHSUMED, run again.

The numbers in ``features.csv`` and ``study/published.csv`` are those of the release: the spreadsheets of each single
feature as a ranker over the 106 test queries, and of the baselines on all parts of all folds.
"""
