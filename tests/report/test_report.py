"""Pages of the report have what the artefact has, lead to the runs, need no network, and show text as text."""

from __future__ import annotations

import dataclasses
import html
import json
import re
from types import SimpleNamespace

import nbformat
import pandas as pd
import pytest

from rankplug.report.combination_records import CombinationRecords, combination_records
from rankplug.report.site import StudyReport, build_report
from rankplug.store import Store
from rankplug.studies import (
    Check,
    Checks,
    Claim,
    Evaluation,
    Exhibit,
    Margin,
    Observation,
    Runs,
    Study,
    evaluate,
    greater,
    not_run,
)

HOSTILE = "<script>alert(1)</script>"


def draw_table(results):
    identities = results["few"].groupby("model", observed=True)["combination"].first()
    rows = {"model": ["lambdaMART", "XE-NDCG"], "note": "a <b> c & d", "value": [0.5, 0.25]}
    return pd.DataFrame(rows).assign(combination=[identities["lambdaMART"], identities["XE-NDCG"]]), None


def draw_figure(results):
    from rankplug.plotting import new_figure

    means = results.trials("few", "ndcg@5").mean()
    figure, axes = new_figure()
    axes.plot(means, label="means")
    return pd.DataFrame({"model": means.index.astype(str), "ndcg@5": means.to_numpy()}), figure


def trailing(results):
    """Return the evidence of a model that trails by all there is, in two trials."""
    lead = results.difference("few", "ndcg@5", "lambdaMART", "XE-NDCG")
    return greater({HOSTILE: dataclasses.replace(lead, values=0 * lead.values - 1.0)}, f"{HOSTILE} a note")


def shown(data, **what):
    """Return an output that says what of the study it shows."""
    return nbformat.v4.new_output("display_data", data, metadata={"rankplug": {"study": "made", **what}})


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Write the report of a study of two models, of which one has an executed notebook."""
    folder = tmp_path_factory.mktemp("made")
    models = {"lambdaMART": {"loss": "lambdarank"}, "XE-NDCG": {"loss": "xe_ndcg"}}
    shared = {"dataset": "synthetic[queries=20,documents=8]", "backend": "lightgbm"}
    runs = Runs("few", models, {**shared, "scorer": "trees[rounds=2,leaves=3,min_data=2]"}, trials=2)
    study = Study(
        name="made",
        title=f"A paper {HOSTILE}",
        citation="Nobody, 2020",
        notebook="made:made.ipynb",
        runs=lambda profile, data: [runs],
        exhibits=(
            Exhibit("Table 1", "numbers", draw_table),
            Exhibit("Figure 2a", "a picture", draw_figure),
            Exhibit(
                "Table 3", "no runs", lambda results: (pd.DataFrame({"x": [1.5, 2.5]}), None), caption="A caption."
            ),
        ),
        claims=(
            Claim("more", "More is *better*.", trailing, "Table 1", Margin(0.5, "half of all", 100, "points")),
            Claim("one", "One is one.", lambda _: Checks({"": Check("1 = 1", 1.0, at_least=1.0, control=0.0)})),
            Claim("absent", "Nobody ran this.", lambda _: not_run(HOSTILE), source="ours"),
        ),
        observations=(Observation("count", "How many:", lambda results: f"{len(results['few'])} {HOSTILE}"),),
        published=pd.DataFrame,
    )
    store = Store(folder / "store")
    results = study.run("smoke", store=store, progress=False)
    identities = results["few"].groupby("model", observed=True)["combination"].first().to_dict()
    combination = runs.trials_of("XE-NDCG")[0].combination
    store.notebook_path(combination).parent.mkdir(parents=True)
    nbformat.write(
        nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("'the executed notebook'", outputs=[])]),
        store.notebook_path(combination),
    )
    outputs = [
        shown({"text/html": f"<table><tr><td>7{HOSTILE}</td></tr></table>"}, exhibit="Table 1"),
        nbformat.v4.new_output("stream", text=f"{HOSTILE}\n"),
    ]
    cells = [
        nbformat.v4.new_markdown_cell(f"# Title\n\nAn integral $\\int_0^1 x\\,dx$ and {HOSTILE}"),
        nbformat.v4.new_code_cell('show(evaluation, "Table 1")', outputs=outputs),
        nbformat.v4.new_code_cell("figure", outputs=[shown({"image/png": "iVBORw0KGgo="}, exhibit="Figure 2a")]),
        nbformat.v4.new_code_cell("show_claims(evaluation)", outputs=[shown({"text/markdown": "| a |"}, claims=True)]),
    ]
    report = folder / "report"
    evaluate(study, results).write(report / "made")
    nbformat.write(nbformat.v4.new_notebook(cells=cells), report / "made" / "notebook.ipynb")
    shown_study = StudyReport(Evaluation.read(report / "made"), report, combination_records(results.records, store))
    build_report([shown_study], report, store=store)
    return SimpleNamespace(report=report, shown=shown_study, identities=identities, results=results)


def text_of(made, name):
    return (made.report / name).read_text()


def pages(report):
    return sorted(str(path.relative_to(report)) for path in report.rglob("*.html"))


def test_every_judged_claim_stands_in_the_pictures_of_claims(made):
    small = r'<div class="strips">\s*<a href="#(?P<to>[^"]*)" title="[^"]*: fails, (?P<about>[^"]*)"'
    lines = {
        "claims.html": small,
        "made.html": r'<div class="line" title="(?P<about>[^"]*)"><a href="claims.html#(?P<to>[^"]*)">.*?</svg>',
    }
    for page, pattern in lines.items():
        text = text_of(made, page)
        line = re.search(pattern, text, re.DOTALL)
        assert line["about"].startswith("-100.00 points [") and line["to"] == "made-more"
        (check,) = re.findall(r'<a class="holds" href="[^"#]*#([^"]*)" [^>]*>✓</a>', text)
        assert check == "made-one"
        assert 'title="Ours: Nobody ran this.' not in text
    front = text_of(made, "index.html")
    assert '<span class="fails">fails</span> <a href="claims.html#made-more">' in front
    assert 'src="made/exhibits/figure-2a.svg" alt="Figure 2a: a picture"' in front
    rows = dict(re.findall(r'<tr id="([^"]*)"><td><p>(.*?)</p>', text_of(made, "claims.html")))
    assert list(rows) == ["made-more", "made-one", "made-absent"] and rows["made-absent"] == "Ours: Nobody ran this."
    assert all((made.report / f"all-claims.{suffix}").stat().st_size > 1000 for suffix in ("pdf", "svg"))


def test_every_link_leads_to_a_file_and_nothing_is_fetched(made):
    combinations = sorted(f"combinations/{identity}.html" for identity in made.identities.values())
    others = ["claims.html", "exhibits.html", "index.html", "made.html", "queries.html", "runs.html", "search.html"]
    assert pages(made.report) == sorted([*combinations, *others])
    for page in pages(made.report):
        for target in re.findall(r'(?:href|src)="([^"]*)"', text_of(made, page)):
            if not target.startswith("data:"):
                name, _, anchor = target.partition("#")
                file = (made.report / page).parent / name if name else made.report / page
                assert file.is_file(), (page, target)
                assert not anchor or f'id="{anchor}"' in file.read_text(), (page, target)


def test_numbers_lead_to_their_combinations(made):
    text = text_of(made, "exhibits.html")
    means = made.results.trials("few", "ndcg@5").mean()
    for model, value in {"lambdaMART": "0.5", "XE-NDCG": "0.25"}.items():
        for number in (value, f"{means[model]:.4g}"):
            assert f'<a href="combinations/{made.identities[model]}.html" title="2 trials">{number}</a>' in text
    assert ">1.5</td>" in text


def test_a_claim_shows_what_decides_it_and_folds_its_runs(made):
    text = text_of(made, "claims.html")
    row = re.search(r'<tr id="made-more">.*?</tr>', text, re.DOTALL)[0]
    first, folded = row.split("<details", 1)
    assert "margin" in first and "combinations/" not in first
    assert all(f'"combinations/{identity}.html"' in folded for identity in made.identities.values())
    assert text.count("from no stored run") == 1 and "Observed, without a test" in text


def test_the_page_of_a_study_is_its_notebook_with_links_below(made):
    text = text_of(made, "made.html")
    assert "<td>7</td>" in text and 'href="exhibits.html#made-table-1"' in text and 'href="claims.html#made"' in text
    assert 'src="made/exhibits/figure-2a.svg"' in text and "iVBORw0KGgo=" not in text


def test_a_combination_has_its_record_and_its_executed_notebook(made):
    one, other = (text_of(made, f"combinations/{made.identities[model]}.html") for model in ("XE-NDCG", "lambdaMART"))
    assert "the executed notebook" in one and "the executed notebook" not in other
    record = made.shown.combinations[made.identities["lambdaMART"]].records[1]
    facts = record["record"]
    expected = [record["seed"], facts["data"]["train"][:12], facts["test_fingerprint"][:12], facts["versions"]["numpy"]]
    assert all(str(fact) in other for fact in [*expected, "lambdarank", 'href="../made.html"'])


def test_a_combination_has_values_of_each_trial_and_code(made):
    page = text_of(made, f"combinations/{made.identities['lambdaMART']}.html")
    of_trials = made.results.trials("few", "ndcg@5")["lambdaMART"]
    each = ", ".join(f"{value:.4f}" for value in of_trials)
    assert f'<td>{of_trials.mean():.4f}</td><td class="words">{each}</td>' in page
    code = html.unescape(re.search("<pre[^>]*>(import rankplug.*?)</pre>", page, re.DOTALL)[1])
    asked = {}
    sweep = SimpleNamespace(sweep=lambda grid, **numbers: asked.update(grid, **numbers))
    exec(code.replace("import rankplug as rp", ""), {"rp": sweep})
    assert asked["loss"] == "lambdarank" and (asked["folds"], asked["trials"]) == ([1], 2)


def test_a_metric_at_several_cut_offs_is_one_row():
    plugin = {"distribution": "rankplug", "version": "1"}
    ndcg = [{"name": "ndcg", "parameters": {"gain": "linear", "k": k}, **plugin} for k in (1, 5)]
    other = {"name": "ndcg", "parameters": {"gain": "exponential", "k": 5}, **plugin}
    flips = [{"name": "flips", "parameters": {"share": 0.1, "parts": ["train", "valid"], "exact": False}, **plugin}] * 2
    inner = {"name": "mlp", "parameters": {"layers": [64, 32]}}
    dataset = {"name": "made", "parameters": {"documents": 15.0, "rate": 1e-08, "limit": None, "scorer": inner}}
    plugins = {"dataset": [dataset | plugin], "transforms": flips, "metrics": [*ndcg, other]}
    flipped = ("transforms", "flips", "share 0.1, parts (train,valid), exact false", "rankplug 1")
    assert CombinationRecords(({"plugins": plugins, "combination": {"seed": 3}},)).plugins == [
        ("dataset", "made", "documents 15, rate 1e-08, limit none, scorer mlp[layers=(64,32)]", "rankplug 1"),
        flipped,
        flipped,
        ("metrics", "ndcg", "k 1, 5, gain linear", "rankplug 1"),
        ("metrics", "ndcg", "k 5, gain exponential", "rankplug 1"),
        ("patience", "none", "", ""),
        ("seed", "3", "", ""),
    ]


def test_text_of_results_is_shown_and_never_run(made):
    kinds = {"search.html": ["index"], "queries.html": ["groups"], "exhibits.html": ["points"], "made.html": ["points"]}
    for page in pages(made.report):
        scripts = re.findall(r"<script([^>]*)>", text_of(made, page))
        data = [f' type="application/json" id="{name}"' for name in kinds.get(page, ())]
        assert scripts == ([] if page.startswith("combinations") else [*data, ""])
    assert "&lt;script&gt;" in text_of(made, "claims.html")


def test_the_search_knows_every_claim_exhibit_and_combination(made):
    text = text_of(made, "search.html")
    index = json.loads(re.search(r'<script[^>]* id="index">(.*?)</script>', text, re.DOTALL)[1])
    kinds = [kind for kind, *_ in index]
    assert {kind: kinds.count(kind) for kind in kinds} == {
        "paper": 1, "claim": 3, "table": 2, "figure": 1, "combination": 2,
    }  # fmt: skip
    for _, _, _, address in index:
        page, _, anchor = address.partition("#")
        assert not anchor or f'id="{anchor}"' in text_of(made, page)
    assert f"A paper {HOSTILE}" in {title for _, title, _, _ in index} and HOSTILE not in text


def test_tables_are_written_in_latex_too(made):
    assert r"c \& d" in (made.report / "made" / "exhibits" / "table-1.tex").read_text()


def test_models_are_compared_query_by_query(made):
    text = text_of(made, "queries.html")
    (drawn,) = json.loads(re.search(r'<script type="application/json" id="groups">(.*?)</script>', text, re.DOTALL)[1])
    values = made.results.by_query("few", drawn["metric"])[list(drawn["models"])].to_numpy()
    assert drawn["queries"] == len(values) and list(drawn["means"]) == pytest.approx(values.mean(axis=0), abs=1e-4)
    assert drawn["better"] == [[int((one > other).sum()) for other in values.T] for one in values.T]
    wins, losses = ((values[:, 1] > values[:, 0]).mean(), (values[:, 1] < values[:, 0]).mean())
    cells = re.findall(r"<td>([\d.]+) %</td>", text)
    assert cells == [f"{100 * share:.0f}" for share in (wins, 1 - wins - losses, losses)]
    assert f'href="queries.html#{drawn["id"]}"' in text_of(made, "claims.html")


def test_an_exhibit_has_words_of_its_notebook_or_its_own(made):
    first, *_, last = text_of(made, "exhibits.html").split('<section class="exhibit"')[1:]
    assert "An integral" in first and "<math" in first and "<h1>Title" not in first
    assert "A caption." in last and "An integral" not in last


def test_an_exhibit_is_cited_in_bibtex(made):
    text = text_of(made, "exhibits.html")
    assert "@misc{rankplug-made-figure-2a," in text and "title = {{Figure 2a: a picture}}" in text
    assert "@software{rankplug," in text and "@software{rankplug," in text_of(made, "index.html")
