"""RankBoost as its paper has it: an engine that boosts thresholds."""
