"""Pages of tutorials link to places that open the notebook, once the repository's address is set."""

from __future__ import annotations

from rankplug_documentation import notebooks


def test_notebooks_open_in_colab_and_binder(monkeypatch):
    page = "# Title\nText\n"
    assert notebooks.with_links(page, "notebooks/a.ipynb") == page
    project = '[tool.hatch.metadata.hooks.custom]\nrepository = "https://github.com/lab/ranking"'
    monkeypatch.setattr(notebooks.Path, "read_text", lambda *_, **__: project)
    linked = notebooks.with_links(page, "notebooks/a.ipynb")
    assert "https://colab.research.google.com/github/lab/ranking/blob/main/notebooks/a.ipynb" in linked
    assert "https://mybinder.org/v2/gh/lab/ranking/main?labpath=notebooks/a.ipynb" in linked
