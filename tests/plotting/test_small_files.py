"""Figures as small files that look as they were drawn."""

from __future__ import annotations

import io
import re
from xml.etree import ElementTree

import numpy as np
from PIL import Image

from rankplug.plotting import PALETTE, encode_figure, new_figure


def drawn():
    figure, (left, right) = new_figure(2)
    for position, colour in enumerate(PALETTE):
        left.plot(np.linspace(0, 1, 50), np.linspace(0, 1, 50) ** (position + 1), color=colour, label="a & b")
        left.fill_between([0, 1], [0, position], facecolor=colour, alpha=0.1)
    right.pcolormesh(np.arange(36.0).reshape(6, 6), cmap="cividis")
    right.set_title("a <title>")
    left.legend()
    return figure


def encoded(suffix):
    file = io.BytesIO()
    encode_figure(drawn(), file, suffix)
    return file.getvalue()


def test_few_colours_look_like_all_of_them(monkeypatch):
    few = np.asarray(Image.open(io.BytesIO(encoded("png"))).convert("RGB"), int)
    monkeypatch.setattr(Image.Image, "quantize", lambda picture, *_, **__: picture)
    every = np.asarray(Image.open(io.BytesIO(encoded("png"))).convert("RGB"), int)
    assert len(np.unique(every.reshape(-1, 3), axis=0)) > 500
    off = np.abs(few - every).max(axis=2)
    assert off.max() < 255 * 0.12 and (off > 16).mean() < 0.001 and off.mean() < 1


def test_a_small_svg_is_whole_and_everything_it_refers_to_is_there():
    text = encoded("svg").decode()
    root = ElementTree.fromstring(text)
    names = [one.get("id") for one in root.iter() if one.get("id")]
    referred = set(re.findall(r"url\(#(\w+)\)", text)) | set(re.findall(r'href="#(\w+)"', text))
    assert referred and referred == set(names) and len(names) == len(set(names))
    words = [one.text for one in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "a & b" in words and "a <title>" in words
    assert "<g>" not in text and "<metadata>" not in text and text.count("<g") == text.count("</g>")
