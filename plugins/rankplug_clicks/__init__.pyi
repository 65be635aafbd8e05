from .clicks import Clicks as Clicks
from .propensities import harvest as harvest
from .propensities import regression_em as regression_em
