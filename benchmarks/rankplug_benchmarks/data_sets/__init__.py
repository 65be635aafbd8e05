"""Reading data sets and making them."""
