"""The page on which models are compared query by query."""
