"""Training of one model on a Dask cluster, ``rankplug.fit_on_cluster``."""

from rankplug_dask.fitting import FittedEngine as FittedEngine
from rankplug_dask.fitting import SpreadLists as SpreadLists
from rankplug_dask.fitting import fit_on_cluster as fit_on_cluster
from rankplug_dask.fitting import tree_settings as tree_settings
