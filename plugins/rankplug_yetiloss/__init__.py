"""YetiLoss: YetiRank with weights that come from a metric."""
