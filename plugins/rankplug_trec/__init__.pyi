from .files import evaluate_run as evaluate_run
from .files import read_qrels as read_qrels
from .files import read_run as read_run
from .files import write_qrels as write_qrels
from .files import write_run as write_run
from .reranker import pyterrier as pyterrier
