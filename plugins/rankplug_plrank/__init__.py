"""PL-Rank: unbiased gradients of ranking metrics under the Plackett-Luce law of rankings."""
