"""Linear models by L-BFGS."""
