from .claims import Claim as Claim
from .claims import Margin as Margin
from .claims import Observation as Observation
from .data_facts import facts_beside_published as facts_beside_published
from .papers import PROFILES as PROFILES
from .papers import Exhibit as Exhibit
from .papers import Profile as Profile
from .papers import Runs as Runs
from .papers import Study as Study
from .papers import check_parameters as check_parameters
from .papers import read_profile as read_profile
from .papers import studies as studies
from .papers import study as study
from .published import beside as beside
from .published import beside_published as beside_published
from .published import heading as heading
from .published import layout as layout
from .published import made_by as made_by
from .published import number as number
from .published import read_published as read_published
from .published import stand_ins as stand_ins
from .study_results import Results as Results
from .study_results import interval_of as interval_of
from .study_results import p_value_of as p_value_of
from .tuning import validation_quality as validation_quality

__all__ = [
    "PROFILES",
    "Claim",
    "Exhibit",
    "Margin",
    "Observation",
    "Profile",
    "Results",
    "Runs",
    "Study",
    "beside",
    "beside_published",
    "check_parameters",
    "facts_beside_published",
    "heading",
    "interval_of",
    "layout",
    "made_by",
    "number",
    "p_value_of",
    "read_profile",
    "read_published",
    "stand_ins",
    "studies",
    "study",
    "validation_quality",
]
