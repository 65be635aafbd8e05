"""LambdaGap: pairs that lie a cut-off or more apart in the ranking, for precision at that cut-off."""
