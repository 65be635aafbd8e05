"""Learning from clicks that positions bias."""
