"""An estimator with scikit-learn's conventions: ``rankplug.Ranker``."""
