from .importance import draw_explanation as draw_explanation
from .importance import explain as explain
