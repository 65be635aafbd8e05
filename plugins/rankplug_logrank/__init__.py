"""Conditional models for non-smooth ranking losses (Dubey, Machchhar, Bhattacharyya, Chakrabarti, ICDM 2009)."""
