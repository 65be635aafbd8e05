from .by_name import Metric as Metric
from .by_name import evaluate as evaluate
from .by_name import metric as metric
from .list_metrics import list_metric as list_metric
from .metric_parameters import MetricParameters as MetricParameters
from .metric_parameters import RankingMetricParameters as RankingMetricParameters

__all__ = [
    "Metric",
    "MetricParameters",
    "RankingMetricParameters",
    "evaluate",
    "list_metric",
    "metric",
]
