"""RankBoost, FRank and AdaRank as their papers have them: engines that boost thresholds and single features."""
