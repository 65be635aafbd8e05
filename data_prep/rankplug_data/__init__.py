"""Data sets: fetched or made, verified, cleaned and cached."""
