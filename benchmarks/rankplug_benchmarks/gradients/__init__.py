"""Gradients of losses: beside engines' own, beside padded tensors, and as lists grow."""
