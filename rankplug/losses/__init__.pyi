from .by_name import loss as loss
from .list_losses import ListLoss as ListLoss
from .list_losses import ListLoss as ListLoss
from .list_losses import LongLists as LongLists
from .list_losses import list_constants as list_constants
from .list_losses import list_loss as list_loss
from .objectives import Evaluation as Evaluation
from .objectives import Loss as Loss
from .objectives import Objective as Objective
from .objectives import Step as Step
from .padded_losses import PaddedLoss as PaddedLoss
from .padded_losses import padded_loss as padded_loss
from .padded_losses import padding_filled as padding_filled
from .padded_parameters import PaddedParameters as PaddedParameters
from .session_losses import SessionPluginWarning as SessionPluginWarning
from .session_losses import loss as loss
from .session_losses import packed as packed
from .session_losses import renew as renew
from .session_losses import unpack as unpack

__all__ = [
    "Evaluation",
    "ListLoss",
    "LongLists",
    "Loss",
    "Objective",
    "PaddedLoss",
    "PaddedParameters",
    "SessionPluginWarning",
    "Step",
    "list_constants",
    "list_loss",
    "loss",
    "packed",
    "padded_loss",
    "padding_filled",
    "renew",
    "unpack",
]
