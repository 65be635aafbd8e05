"""Coefficients of correlation between scores and labels."""
