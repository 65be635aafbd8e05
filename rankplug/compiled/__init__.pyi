from .array_functions import ArrayFunction as ArrayFunction
from .compile_errors import told_in_a_sentence as told_in_a_sentence
from .lifting import FASTMATH as FASTMATH
from .lifting import ListFunction as ListFunction
from .lifting import building_block as building_block
from .lifting import call_of_list as call_of_list
from .lifting import make as make
from .lifting import writable as writable
from .named_functions import NamedFunction as NamedFunction
from .named_functions import names_used as names_used
from .noise import key_of as key_of
from .noise import logistic as logistic
from .noise import mix as mix
from .noise import uniform as uniform
from .ordering import RANDOM as RANDOM
from .ordering import STABLE as STABLE
from .ordering import WORST as WORST
from .ordering import order_documents as order_documents
from .ordering import rank_labels as rank_labels
from .ordering import sort_labels as sort_labels
from .ordering import usable as usable
from .pair_sums import BEND as BEND
from .pair_sums import LONGEST_WITH_PAIRS as LONGEST_WITH_PAIRS
from .pair_sums import SLOPE as SLOPE
from .pair_sums import SOFTPLUS as SOFTPLUS
from .pair_sums import TAIL as TAIL
from .pair_sums import different_levels as different_levels
from .pair_sums import sum_over_pairs as sum_over_pairs
from .pair_sums import worth_sums as worth_sums
from .pairs import add_logistic_pair as add_logistic_pair
from .parts import part as part
from .ranking import fill_dcg_constants as fill_dcg_constants
from .ranking import gain as gain
from .ranking import ideal_dcg as ideal_dcg
from .ranking import sort_best_first as sort_best_first
from .scratch_arrays import APART as APART
from .scratch_arrays import scratch as scratch
from .scratch_arrays import zeros as zeros
from .vector_math import WIDEST as WIDEST
from .vector_math import exp as exp
from .vector_math import exponentials_from as exponentials_from
from .vector_math import largest as largest
from .vector_math import log as log

__all__ = [
    "APART",
    "BEND",
    "FASTMATH",
    "LONGEST_WITH_PAIRS",
    "RANDOM",
    "SLOPE",
    "SOFTPLUS",
    "STABLE",
    "TAIL",
    "WIDEST",
    "WORST",
    "ArrayFunction",
    "ListFunction",
    "NamedFunction",
    "add_logistic_pair",
    "building_block",
    "call_of_list",
    "different_levels",
    "exp",
    "exponentials_from",
    "fill_dcg_constants",
    "gain",
    "ideal_dcg",
    "key_of",
    "largest",
    "log",
    "logistic",
    "make",
    "mix",
    "names_used",
    "order_documents",
    "rank_labels",
    "scratch",
    "sort_best_first",
    "sort_labels",
    "sum_over_pairs",
    "told_in_a_sentence",
    "uniform",
    "usable",
    "worth_sums",
    "writable",
    "zeros",
]
