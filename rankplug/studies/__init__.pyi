from .data_facts import facts_beside_published as facts_beside_published
from .judging import judge_alike as judge_alike
from .judging import judge_all as judge_all
from .judging import judge_bound as judge_bound
from .judging import judge_greater as judge_greater
from .judging import judge_identity as judge_identity
from .papers import PROFILES as PROFILES
from .papers import Claim as Claim
from .papers import Exhibit as Exhibit
from .papers import Profile as Profile
from .papers import Results as Results
from .papers import Runs as Runs
from .papers import Study as Study
from .papers import Verdict as Verdict
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
from .tuning import validation_quality as validation_quality

__all__ = [
    "PROFILES",
    "Claim",
    "Exhibit",
    "Profile",
    "Results",
    "Runs",
    "Study",
    "Verdict",
    "beside",
    "beside_published",
    "check_parameters",
    "facts_beside_published",
    "heading",
    "judge_alike",
    "judge_all",
    "judge_bound",
    "judge_greater",
    "judge_identity",
    "layout",
    "made_by",
    "number",
    "read_profile",
    "read_published",
    "stand_ins",
    "studies",
    "study",
    "validation_quality",
]
