"""StochasticRank's gradient of a ranking metric under Gaussian noise on every score."""
