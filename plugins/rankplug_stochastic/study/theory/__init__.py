"""Checks and pictures of what the paper derives, which need no trained model."""
