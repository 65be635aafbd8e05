from .fitting import FittedEngine as FittedEngine
from .fitting import SpreadLists as SpreadLists
from .fitting import fit_on_cluster as fit_on_cluster
from .fitting import tree_settings as tree_settings
from .workers import ClusterError as ClusterError
from .workers import DaskWorkers as DaskWorkers
