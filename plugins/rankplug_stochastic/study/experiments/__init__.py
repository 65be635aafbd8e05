"""Figures and tables of trained models."""
