"""Models and what they rank in the formats of other programs."""
