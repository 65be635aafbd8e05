"""Search for the parameters of a model by validation data."""
