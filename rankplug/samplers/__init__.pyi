from .by_name import Sampler as Sampler
from .by_name import sampler as sampler
from .by_name import samples_of as samples_of
from .list_samplers import ListSampler as ListSampler
from .list_samplers import list_sampler as list_sampler

__all__ = [
    "ListSampler",
    "Sampler",
    "list_sampler",
    "sampler",
    "samples_of",
]
