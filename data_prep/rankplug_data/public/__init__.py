"""The public data sets: what is known of each, where to get it, and how to load it."""
