"""Losses over NeuralSort's relaxed permutation matrix: NeuralSort's own, NeuralNDCG and PiRank."""
