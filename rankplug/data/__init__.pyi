from .clicks import Clicks as Clicks
from .clicks import check_clicks as check_clicks
from .datasets import Source as Source
from .datasets import Split as Split
from .datasets import StoredDataset as StoredDataset
from .datasets import load as load
from .datasets import load_in_blocks as load_in_blocks
from .list_checks import Integers as Integers
from .list_checks import check_labels as check_labels
from .list_checks import check_starts as check_starts
from .lists import Lists as Lists
from .lists import ranges as ranges
from .propensities import harvest as harvest
from .propensities import regression_em as regression_em
from .scaling import Scaling as Scaling
from .scaling import ScalingKind as ScalingKind
from .scaling import signed_log1p as signed_log1p
from .table_columns import Columns as Columns
from .table_columns import FeatureReader as FeatureReader
from .table_columns import Rows as Rows
from .table_columns import feature_columns as feature_columns
from .table_columns import read_rows as read_rows
from .tables import ENDINGS as ENDINGS
from .tables import Table as Table
from .tables import shard_of as shard_of
from .tables import table_files as table_files

__all__ = [
    "ENDINGS",
    "Clicks",
    "Columns",
    "FeatureReader",
    "Integers",
    "Lists",
    "Rows",
    "Scaling",
    "ScalingKind",
    "Source",
    "Split",
    "StoredDataset",
    "Table",
    "check_clicks",
    "check_labels",
    "check_starts",
    "feature_columns",
    "harvest",
    "load",
    "load_in_blocks",
    "ranges",
    "read_rows",
    "regression_em",
    "shard_of",
    "signed_log1p",
    "table_files",
]
