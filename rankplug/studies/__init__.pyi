from .citation import Citation as Citation
from .citation import exhibit_bibtex as exhibit_bibtex
from .claims import ROLES as ROLES
from .claims import SOURCES as SOURCES
from .claims import Claim as Claim
from .claims import Margin as Margin
from .claims import Observation as Observation
from .data_facts import facts_beside_published as facts_beside_published
from .deciding import Budget as Budget
from .deciding import decide as decide
from .deciding import decisions_in_words as decisions_in_words
from .deciding import read_time as read_time
from .evaluation import StudyEvaluation as StudyEvaluation
from .evaluation import evaluate as evaluate
from .evaluation_parts import ClaimEvaluation as ClaimEvaluation
from .evaluation_parts import ExhibitEvaluation as ExhibitEvaluation
from .evaluation_parts import ObservationEvaluation as ObservationEvaluation
from .evaluation_parts import Source as Source
from .kept_evaluations import kept_under as kept_under
from .papers import Exhibit as Exhibit
from .papers import Study as Study
from .papers import StudyParameters as StudyParameters
from .papers import bibliography as bibliography
from .papers import check_parameters as check_parameters
from .papers import studies as studies
from .papers import study as study
from .published import Link as Link
from .published import beside as beside
from .published import beside_published as beside_published
from .published import heading as heading
from .published import layout as layout
from .published import number as number
from .published import plus_minus as plus_minus
from .published import read_published as read_published
from .published import stand_ins as stand_ins
from .published import unlinked as unlinked
from .query_pairs import QueryPairs as QueryPairs
from .runs import PROFILES as PROFILES
from .runs import Profile as Profile
from .runs import Runs as Runs
from .runs import read_profile as read_profile
from .scoreboard import BestMethod as BestMethod
from .scoreboard import Board as Board
from .scoreboard import LossRecord as LossRecord
from .scoreboard import NoiseEffect as NoiseEffect
from .scoreboard import Ranks as Ranks
from .scoreboard import Row as Row
from .scoreboard import Scoreboard as Scoreboard
from .scoreboard import Standing as Standing
from .scoreboard import best_methods as best_methods
from .scoreboard import loss_records as loss_records
from .scoreboard import noise_effects as noise_effects
from .scoreboard import scoreboard as scoreboard
from .study_evidence import ClaimEvidence as ClaimEvidence
from .study_evidence import StudyEvidence as StudyEvidence
from .study_evidence import evidence_of as evidence_of
from .study_evidence import forest_cells as forest_cells
from .study_evidence import forest_of as forest_of
from .study_evidence import stored_evidence as stored_evidence
from .study_results import Results as Results
from .verdicts import DECIDED as DECIDED
from .verdicts import VERDICTS as VERDICTS
from .verdicts import Abstention as Abstention
from .verdicts import Check as Check
from .verdicts import Checks as Checks
from .verdicts import Design as Design
from .verdicts import Differences as Differences
from .verdicts import Evidence as Evidence
from .verdicts import IndependentTrials as IndependentTrials
from .verdicts import Judgement as Judgement
from .verdicts import Needs as Needs
from .verdicts import OfficialFolds as OfficialFolds
from .verdicts import Part as Part
from .verdicts import PublishedNumber as PublishedNumber
from .verdicts import Resplits as Resplits
from .verdicts import Sample as Sample
from .verdicts import Steps as Steps
from .verdicts import Values as Values
from .verdicts import Verdict as Verdict
from .verdicts import WeightedSum as WeightedSum
from .verdicts import alike as alike
from .verdicts import exact_check as exact_check
from .verdicts import greater as greater
from .verdicts import interval_of as interval_of
from .verdicts import judge as judge
from .verdicts import no_greater as no_greater
from .verdicts import not_comparable as not_comparable
from .verdicts import not_run as not_run
from .verdicts import not_to_the_end as not_to_the_end
from .verdicts import p_value_of as p_value_of
from .verdicts import reached as reached
from .verdicts import some_greater as some_greater

__all__ = [
    "DECIDED",
    "PROFILES",
    "ROLES",
    "SOURCES",
    "VERDICTS",
    "Abstention",
    "BestMethod",
    "Board",
    "Budget",
    "Check",
    "Checks",
    "Citation",
    "Claim",
    "ClaimEvaluation",
    "ClaimEvidence",
    "Design",
    "Differences",
    "Evidence",
    "Exhibit",
    "ExhibitEvaluation",
    "IndependentTrials",
    "Judgement",
    "Link",
    "LossRecord",
    "Margin",
    "Needs",
    "NoiseEffect",
    "Observation",
    "ObservationEvaluation",
    "OfficialFolds",
    "Part",
    "Profile",
    "PublishedNumber",
    "QueryPairs",
    "Ranks",
    "Resplits",
    "Results",
    "Row",
    "Runs",
    "Sample",
    "Scoreboard",
    "Source",
    "Standing",
    "Steps",
    "Study",
    "StudyEvaluation",
    "StudyEvidence",
    "StudyParameters",
    "Values",
    "Verdict",
    "WeightedSum",
    "alike",
    "beside",
    "beside_published",
    "best_methods",
    "bibliography",
    "check_parameters",
    "decide",
    "decisions_in_words",
    "evaluate",
    "evidence_of",
    "exact_check",
    "exhibit_bibtex",
    "facts_beside_published",
    "forest_cells",
    "forest_of",
    "greater",
    "heading",
    "interval_of",
    "judge",
    "kept_under",
    "layout",
    "loss_records",
    "no_greater",
    "noise_effects",
    "not_comparable",
    "not_run",
    "not_to_the_end",
    "number",
    "p_value_of",
    "plus_minus",
    "reached",
    "read_profile",
    "read_published",
    "read_time",
    "scoreboard",
    "some_greater",
    "stand_ins",
    "stored_evidence",
    "studies",
    "study",
    "unlinked",
]
