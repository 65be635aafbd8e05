"""Commands about a saved model: what it ranks, for other programs, and why."""
