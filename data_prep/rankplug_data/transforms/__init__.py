"""Changes of data: scaling, cleaning, label noise and simulated clicks. Each returns new lists."""
