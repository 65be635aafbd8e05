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
    right.pcolormesh(np.arange(100.0).reshape(10, 10), cmap="cividis")
    right.set_title("a <title>")
    left.legend()
    return figure


def encoded(figure, suffix):
    file = io.BytesIO()
    encode_figure(figure, file, suffix)
    return file


def test_a_png_of_few_colours_looks_like_one_of_all(monkeypatch):
    picture = Image.open(encoded(drawn(), "png"))
    few = np.asarray(picture.convert("RGB"), int)
    monkeypatch.setattr(Image.Image, "quantize", lambda picture, *_, **__: picture)
    every = np.asarray(Image.open(encoded(drawn(), "png")).convert("RGB"), int)
    assert len(picture.getcolors()) <= 128 and len(np.unique(every.reshape(-1, 3), axis=0)) > 500
    assert np.abs(few - every).max() < 255 / 10


def test_a_small_svg_is_whole_and_everything_it_refers_to_is_there():
    text = encoded(drawn(), "svg").getvalue().decode()
    root = ElementTree.fromstring(text)
    names = [one.get("id") for one in root.iter() if one.get("id")]
    referred = set(re.findall(r"url\(#(\w+)\)", text)) | set(re.findall(r'href="#(\w+)"', text))
    assert referred and referred == set(names) and len(names) == len(set(names))
    words = [one.text for one in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "a & b" in words and "a <title>" in words
    assert "<g>" not in text and "<metadata>" not in text and text.count("<g") == text.count("</g>")
