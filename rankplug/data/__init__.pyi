from .datasets import Source as Source
from .datasets import Split as Split
from .datasets import StoredDataset as StoredDataset
from .datasets import load as load
from .datasets import load_in_blocks as load_in_blocks
from .lists import Integers as Integers
from .lists import Lists as Lists
from .lists import check_labels as check_labels
from .lists import check_starts as check_starts

__all__ = [
    "Integers",
    "Lists",
    "Source",
    "Split",
    "StoredDataset",
    "check_labels",
    "check_starts",
    "load",
    "load_in_blocks",
]
