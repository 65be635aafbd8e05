from .by_name import Metric as Metric
from .by_name import evaluate as evaluate
from .by_name import metric as metric
from .list_metrics import list_metric as list_metric
from .metric_parameters import MetricParameters as MetricParameters
from .metric_parameters import RankingMetricParameters as RankingMetricParameters
from .runs import evaluate_run as evaluate_run

__all__ = [
    "Metric",
    "MetricParameters",
    "RankingMetricParameters",
    "evaluate",
    "evaluate_run",
    "list_metric",
    "metric",
]
