from . import kinds as kinds
from .editable import source_digest as source_digest
from .grammar import DEEPEST as DEEPEST
from .grammar import MOST_CHOICES as MOST_CHOICES
from .grammar import NAME as NAME
from .grammar import Grid as Grid
from .grammar import Reference as Reference
from .grammar import expand as expand
from .grammar import format_value as format_value
from .grammar import parse as parse
from .health import is_usable as is_usable
from .health import load_code as load_code
from .health import problems_of_others as problems_of_others
from .health import require_packages as require_packages
from .kinds import KINDS as KINDS
from .kinds import BackendSpecification as BackendSpecification
from .kinds import DatasetSpecification as DatasetSpecification
from .kinds import LossSpecification as LossSpecification
from .kinds import MetricSpecification as MetricSpecification
from .kinds import SamplerSpecification as SamplerSpecification
from .kinds import ScorerSpecification as ScorerSpecification
from .kinds import StudySpecification as StudySpecification
from .kinds import TransformSpecification as TransformSpecification
from .package_files import package_files as package_files
from .parameters import Parameters as Parameters
from .parameters import describe_parameters as describe_parameters
from .parameters import describe_type as describe_type
from .parameters import literal_values as literal_values
from .parameters import problem_in as problem_in
from .parameters import read_parameters as read_parameters
from .plugins import GROUP as GROUP
from .plugins import SESSION as SESSION
from .plugins import Named as Named
from .plugins import Registry as Registry
from .plugins import registry as registry
from .reference_completion import complete_reference as complete_reference
from .specifications import BrokenPlugin as BrokenPlugin
from .specifications import Plugin as Plugin
from .specifications import import_object as import_object

__all__ = [
    "DEEPEST",
    "GROUP",
    "KINDS",
    "MOST_CHOICES",
    "NAME",
    "SESSION",
    "BackendSpecification",
    "BrokenPlugin",
    "DatasetSpecification",
    "Grid",
    "LossSpecification",
    "MetricSpecification",
    "Named",
    "Parameters",
    "Plugin",
    "Reference",
    "Registry",
    "SamplerSpecification",
    "ScorerSpecification",
    "StudySpecification",
    "TransformSpecification",
    "complete_reference",
    "describe_parameters",
    "describe_type",
    "expand",
    "format_value",
    "import_object",
    "is_usable",
    "kinds",
    "literal_values",
    "load_code",
    "package_files",
    "parse",
    "problem_in",
    "problems_of_others",
    "read_parameters",
    "registry",
    "require_packages",
    "source_digest",
]
