"""Listwise learning to rank by exploring unique ratings (Zhu, Klabjan, WSDM 2020)."""
