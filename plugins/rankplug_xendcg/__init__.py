"""An alternative cross entropy loss for learning to rank (Bruch, WWW 2021)."""
