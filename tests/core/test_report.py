"""The report is whole, needs no network, and shows text instead of running it."""

from __future__ import annotations

import dataclasses
import json
import re

import nbformat
import pandas as pd
import pytest

from rankplug.report.markdown import markdown_html
from rankplug.report.notebook_page import clean_html, notebook_html
from rankplug.report.site import Drawn, Reproduced, build_report, draw_exhibits, write_summary
from rankplug.report.summary import markdown_summary
from rankplug.studies import Claim, Exhibit, Results, Study, Verdict

HOSTILE = "<script>alert(1)</script>"


def draw_table(results):
    return pd.DataFrame({"model": ["a <b>", "c & d"], "value": [0.5, 0.25]}).set_index("model"), None


def draw_figure(results):
    from rankplug.figures import new_figure

    figure, axes = new_figure()
    axes.plot([1, 2], [3, 4])
    return pd.DataFrame({"x": [1, 2]}), figure


@pytest.fixture
def reproduced(tmp_path):
    study = Study(
        name="made",
        title=f"A paper {HOSTILE}",
        citation="Nobody, 2020",
        notebook="made.ipynb",
        runs=lambda profile, data: [],
        exhibits=(Exhibit("Table 1", "numbers", draw_table), Exhibit("Figure 2a", "a picture", draw_figure)),
        claims=(Claim("more is *better*", lambda results: Verdict("fails", HOSTILE)),),
        published=pd.DataFrame,
    )
    record = {
        "combination": dict.fromkeys(("dataset", "backend", "scorer", "loss", "sampler"), "x"),
        "fold": 1,
        "trial": 0,
        "record": {
            "versions": {"numpy": "2"},
            "fit_seconds": 1.5,
            "data": {"train": "abcdef012345"},
            "test_fingerprint": "123",
        },
    }
    results = Results("smoke", {}, pd.DataFrame(), (record,))
    notebook = nbformat.v4.new_notebook(
        cells=[
            nbformat.v4.new_markdown_cell(f"# Title\n\nAn integral $\\int_0^1 x\\,dx$ and {HOSTILE}"),
            nbformat.v4.new_code_cell(
                "print(1)",
                outputs=[
                    nbformat.v4.new_output(
                        "display_data", {"text/html": f"<table><tr><td>7{HOSTILE}</td></tr></table>"}
                    ),
                    nbformat.v4.new_output("stream", text=f"{HOSTILE}\n"),
                ],
            ),
        ]
    )
    path = tmp_path / "made.ipynb"
    nbformat.write(notebook, path)
    verdicts = tuple(claim.judge(results) for claim in study.claims)
    return {"made": Reproduced(study, results, path, draw_exhibits(study, results, tmp_path / "report"), verdicts)}


def test_every_link_leads_to_a_file_and_nothing_is_fetched(reproduced, tmp_path):
    build_report(reproduced, tmp_path / "report")
    pages = sorted(path.name for path in (tmp_path / "report").glob("*.html"))
    assert pages == ["claims.html", "exhibits.html", "index.html", "made.html", "runs.html"]
    for page in pages:
        text = (tmp_path / "report" / page).read_text()
        for target in re.findall(r'(?:href|src)="([^"]*)"', text):
            assert target.startswith("data:") or (tmp_path / "report" / target).is_file(), (page, target)


def test_text_of_results_is_shown_and_never_run(reproduced, tmp_path):
    build_report(reproduced, tmp_path / "report")
    for page in (tmp_path / "report").glob("*.html"):
        assert "<script" not in page.read_text()
    assert "&lt;script&gt;" in (tmp_path / "report" / "claims.html").read_text()


def test_figures_are_written_for_print_and_tables_for_other_programs(reproduced, tmp_path):
    folder = tmp_path / "report" / "exhibits" / "made"
    assert sorted(path.name for path in folder.iterdir()) == [
        "figure-2a.csv",
        "figure-2a.pdf",
        "figure-2a.png",
        "figure-2a.tex",
        "table-1.csv",
        "table-1.tex",
    ]
    assert pd.read_csv(folder / "table-1.csv")["value"].tolist() == [0.5, 0.25]
    assert r"c \& d" in (folder / "table-1.tex").read_text()


def test_verdicts_are_written_for_other_programs(reproduced, tmp_path):
    write_summary(reproduced, tmp_path)
    summary = json.loads((tmp_path / "claims.json").read_text())
    assert summary["made"][0]["verdict"] == "fails"


def test_a_summary_has_ours_with_interval_the_published_number_and_the_data_in_its_place(reproduced):
    one = reproduced["made"]
    row = {"published on": "Web|30K", "ours on": "synthetic", "model": "a model", "metric": "ndcg@5", "trials": 3}
    numbers = {"ours": 41.25, "half width": 1.5, "published": 40.0, "published half width": float("nan")}
    drawn = Drawn(one.study.exhibits[0], pd.DataFrame([row | numbers]), ())
    summary = markdown_summary({"made": dataclasses.replace(one, exhibits=(drawn,))})
    assert "In the place of Web|30K: synthetic." in summary
    assert "| Web\\|30K | a model | 3 | 41.25\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}1.50 [40.00] |" in summary
    assert "**fails**" in summary


def test_formulas_become_mathml():
    assert "<math" in markdown_html("the loss $\\log\\sum_j e^{f_j}$")
    assert "<mfrac>" in markdown_html("$$\n\\frac{1}{2}\n$$")


def test_outputs_keep_tables_and_lose_scripts():
    cleaned = clean_html("<style>p{}</style><table onclick='x()'><tr><th>a</th></tr></table><script>x()</script>")
    assert cleaned == "<table><tbody><tr><th>a</th></tr></tbody></table>"


def test_an_error_in_a_notebook_is_shown(tmp_path):
    error = nbformat.v4.new_output("error", ename="E", evalue="v", traceback=["\x1b[31mE: <v>\x1b[0m"])
    path = tmp_path / "failed.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1/0", outputs=[error])]), path)
    assert '<pre class="error">E: &lt;v&gt;</pre>' in notebook_html(path)
