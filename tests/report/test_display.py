"""Figures in notebooks follow their controls."""

from __future__ import annotations

import base64

import IPython.display
import ipywidgets
import matplotlib.pyplot as plt

from rankplug.report import live


class Screen:
    """Takes down what is displayed."""

    def __init__(self):
        self.shown, self.updates = [], []

    def display(self, thing, raw=False, metadata=None, display_id=False):
        self.shown.append(thing)
        return self if display_id else None

    def update(self, thing, raw=False, metadata=None):
        self.updates.append(thing)


def test_a_figure_is_shown_at_once_and_again_when_a_control_moves(monkeypatch):
    screen = Screen()
    monkeypatch.setattr(IPython.display, "display", screen.display)
    drawn, before = [], plt.get_fignums()

    def draw(beta, loss="plain"):
        drawn.append((beta, loss))
        return plt.subplots(figsize=(1, 1))[0]

    slider = ipywidgets.FloatSlider(value=1.0, max=4.0)
    live(draw, beta=slider, loss=["plain", "other"])
    assert (
        isinstance(screen.shown[0], ipywidgets.VBox)
        and base64.b64decode(screen.shown[1]["image/png"])[:4] == b"\x89PNG"
    )
    assert drawn == [(1.0, "plain")] and not screen.updates
    slider.value = 2.5
    screen.shown[0].children[1].value = "other"
    assert drawn[1:] == [(2.5, "plain"), (2.5, "other")]
    assert len(screen.updates) == 2 and plt.get_fignums() == before
