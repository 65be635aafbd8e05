from .list_metrics import Metric as Metric
from .list_metrics import evaluate as evaluate
from .list_metrics import list_metric as list_metric
from .list_metrics import metric as metric
from .metric_parameters import MetricParameters as MetricParameters
from .metric_parameters import RankingMetricParameters as RankingMetricParameters
