"""A stochastic treatment of scoring functions (Bruch, Han, Bendersky, Najork, WSDM 2020)."""
