"""Boosting iterations of other libraries, and of engines with their own shortcuts."""
