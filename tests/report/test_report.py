"""The report is whole, needs no network, and shows text instead of running it."""

from __future__ import annotations

import dataclasses
import html
import json
import re
from types import SimpleNamespace

import nbformat
import pandas as pd
import pytest

from rankplug.errors import SpecificationError
from rankplug.report.combination_records import CombinationRecords
from rankplug.report.site import build_report, markdown_summary, write_summary
from rankplug.report.study_report import study_report
from rankplug.store import Store
from rankplug.studies import (
    Check,
    Checks,
    Claim,
    Exhibit,
    ExhibitEvaluation,
    Margin,
    Observation,
    Runs,
    Study,
    StudyEvidence,
    Verdict,
    evaluate,
    greater,
    not_run,
)

HOSTILE = "<script>alert(1)</script>"
INDEX = ' type="application/json" id="index"'


def draw_table(results):
    identities = results["few"].groupby("model", observed=True)["combination"].first()
    rows = {"model": ["lambdaMART", "XE-NDCG"], "note": "a <b> c & d", "value": [0.5, 0.25]}
    return pd.DataFrame(rows).assign(combination=[identities["lambdaMART"], identities["XE-NDCG"]]), None


def draw_figure(results):
    from rankplug.plotting import new_figure

    means = results.trials("few", "ndcg@5").mean()
    figure, axes = new_figure()
    axes.plot(means)
    return pd.DataFrame({"model": means.index.astype(str), "ndcg@5": means.to_numpy()}), figure


def draw_nothing_run(results):
    return pd.DataFrame({"x": [1.5, 2.5]}), None


def trailing(results):
    """Return the evidence of a model that trails by all there is, in two trials."""
    lead = results.difference("few", "ndcg@5", "lambdaMART", "XE-NDCG")
    return greater({HOSTILE: dataclasses.replace(lead, values=0 * lead.values - 1.0)}, f"{HOSTILE} a note")


def shown(text, **what):
    """Return an output that says what of the study it shows."""
    about = {"rankplug": {"study": "made", **what}}
    return nbformat.v4.new_output("display_data", {"text/html": text}, metadata=about)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Write the report of a study of two models, of which one has an executed notebook."""
    folder = tmp_path_factory.mktemp("made")
    models = {"lambdaMART": {"loss": "lambdarank"}, "XE-NDCG": {"loss": "xe_ndcg"}}
    shared = {
        "dataset": "synthetic[queries=20,documents=8]",
        "backend": "lightgbm",
        "scorer": "trees[rounds=2,leaves=3,min_data=2]",
    }
    runs = Runs("few", models, shared, trials=2)
    study = Study(
        name="made",
        title=f"A paper {HOSTILE}",
        citation="Nobody, 2020",
        notebook="made:made.ipynb",
        runs=lambda profile, data: [runs],
        exhibits=(
            Exhibit("Table 1", "numbers", draw_table),
            Exhibit("Figure 2a", "a picture", draw_figure),
            Exhibit("Table 3", "no runs", draw_nothing_run),
        ),
        claims=(
            Claim("more", "more is *better*", trailing, "Table 1", Margin(0.5, "half of everything", 100, "points")),
            Claim("one", "one is one", lambda results: Checks({"": Check("1 = 1", 1.0, at_least=1.0, control=0.0)})),
            Claim("nobody", "nobody ran this", lambda results: not_run(HOSTILE)),
        ),
        observations=(
            Observation("count", "How many there are:", lambda results: f"{len(results['few'])} rows {HOSTILE}"),
        ),
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
    table = f"<table><tr><td>7{HOSTILE}</td></tr></table>"
    notebook = nbformat.v4.new_notebook(
        cells=[
            nbformat.v4.new_markdown_cell(f"# Title\n\nAn integral $\\int_0^1 x\\,dx$ and {HOSTILE}"),
            nbformat.v4.new_code_cell(
                'show(evaluation, "Table 1")',
                outputs=[
                    shown("an older picture of it", exhibit="Table 1"),
                    nbformat.v4.new_output("display_data", {"text/html": table}),
                    nbformat.v4.new_output("stream", text=f"{HOSTILE}\n"),
                ],
            ),
            nbformat.v4.new_code_cell("show_claims(evaluation)", outputs=[shown("older verdicts", claims=True)]),
        ]
    )
    nbformat.write(notebook, folder / "made.ipynb")
    report = folder / "report"
    written = {"made": study_report(evaluate(study, results), folder / "made.ipynb", report, store)}
    build_report(written, report, store=store)
    write_summary(written, report)
    return SimpleNamespace(report=report, shown=written, identities=identities)


def test_every_judged_claim_stands_in_the_forest_of_the_front_page_and_of_its_paper(made):
    anchors = made.shown["made"].claim_anchors
    assert anchors == ["made-more", "made-one", "made-nobody"]
    small = r'<div class="strips">\s*<a href="claims.html#(?P<to>[^"]*)" title="[^"]*: fails, (?P<about>[^"]*)"'
    lines = {
        "index.html": small,
        "made.html": r'<div class="line" title="(?P<about>[^"]*)"><a href="claims.html#(?P<to>[^"]*)">.*?</svg>',
    }
    for page, pattern in lines.items():
        text = (made.report / page).read_text()
        line = re.search(pattern, text, re.DOTALL)
        assert line["about"].startswith("-100.00 points [") and line["to"] == anchors[0]
        (check,) = re.findall(r'<a class="holds" href="claims.html#([^"]*)" [^>]*>✓</a>', text)
        assert check == anchors[1] and f"claims.html#{anchors[2]}" not in text
    rows = dict(re.findall(r'<tr id="([^"]*)"><td><p>(.*?)</p>', (made.report / "claims.html").read_text()))
    assert list(rows) == anchors and rows[anchors[1]] == "one is one"
    assert all((made.report / "exhibits" / f"all-claims.{suffix}").stat().st_size > 1000 for suffix in ("pdf", "svg"))


def test_the_front_page_says_in_numbers_what_was_found(made):
    text = (made.report / "index.html").read_text()
    words = re.sub(r"\s+", " ", re.sub(r"<[^>]*>", "", text))
    assert "3 claims of 1 study, tested on 4 trials" in words and "1 holds 1 fails 1 not judged" in words
    assert "Of 2 claims with a verdict 2 are decided (100 %); 1 could not be judged" in words
    assert "1 claim is an exact check of formulas and code, in which there is no chance: 1 holds." in words
    assert "What fails most clearly of what was measured in points: more is *better* (made), -100.00 points [" in words
    assert "Profile smoke: made data only." in words and "What holds most clearly" not in words
    (picture,) = re.findall(r'<a href="exhibits.html#made-figure-2a"><span class="thumbnail"><img src="([^"]*)"', text)
    assert (made.report / picture).is_file()


def test_the_front_page_has_its_message_before_figures_and_papers(made):
    heads = re.findall(r'<h2 id="([^"]*)"', (made.report / "index.html").read_text())
    assert heads == ["forest", "found", "gallery", "papers", "profiles", "machine"]


def test_a_claim_shows_what_decides_it_and_folds_the_rest(made):
    text = (made.report / "claims.html").read_text()
    row = re.search(r'<tr id="made-more">.*?</tr>', text, re.DOTALL)[0]
    shown, folded = row.split("<details", 1)
    assert "margin" in shown and "combinations/" not in shown and "combinations/" in folded


def test_the_verdicts_are_left_as_evidence_that_another_program_reads(made):
    kept = StudyEvidence.read(made.report / "evidence" / "made-smoke.json")
    assert [claim.judgement.verdict for claim in kept.claims] == ["fails", "holds", "not run"]
    assert kept.counts["not judged"] == 1 and kept.decided == 1.0
    assert kept.claims[0].margin == "50 points" and kept.claims[0].judgement.decisive.effect == -100.0
    assert kept.claims[0].judgement.decisive.data == "made data"


def pages(report):
    return sorted(str(path.relative_to(report)) for path in report.rglob("*.html"))


def test_every_link_leads_to_a_file_and_nothing_is_fetched(made):
    combinations = sorted(f"combinations/{identity}.html" for identity in made.identities.values())
    others = ["claims.html", "exhibits.html", "index.html", "made.html", "queries.html", "runs.html", "search.html"]
    assert pages(made.report) == sorted([*combinations, *others])
    for page in pages(made.report):
        text = (made.report / page).read_text()
        for target in re.findall(r'(?:href|src)="([^"]*)"', text):
            if target.startswith("data:"):
                continue
            name, _, anchor = target.partition("#")
            file = (made.report / page).parent / name if name else made.report / page
            assert file.is_file(), (page, target)
            assert not anchor or f'id="{anchor}"' in file.read_text(), (page, target)


def test_the_numbers_of_a_table_lead_to_their_combinations(made):
    text = (made.report / "exhibits.html").read_text()
    for value, model in (("0.5", "lambdaMART"), ("0.25", "XE-NDCG")):
        assert f'<a href="combinations/{made.identities[model]}.html" title="2 trials">{value}</a>' in text
    assert ">1.5</td>" in text


def test_the_numbers_of_a_figure_lead_to_the_combinations_of_its_models(made):
    frame = made.shown["made"].evaluation.exhibits[1].table.set_index("model")["ndcg@5"]
    text = (made.report / "exhibits.html").read_text()
    for model, value in frame.items():
        assert f'<a href="combinations/{made.identities[model]}.html" title="2 trials">{value:.4g}</a>' in text


def test_verdicts_name_the_runs_they_were_judged_on_and_no_others(made):
    text = (made.report / "claims.html").read_text()
    assert "2 combinations behind it" in text and text.count("from no stored run") == 1
    assert all(f'"combinations/{identity}.html"' in text for identity in made.identities.values())


def test_what_an_output_of_the_notebook_says_it_shows_is_rendered_from_the_evaluation(made):
    text = (made.report / "made.html").read_text()
    assert f'<a href="combinations/{made.identities["lambdaMART"]}.html" title="2 trials">0.5</a>' in text
    assert "an older picture of it" not in text and "older verdicts" not in text and ">fails</span>" in text
    assert 'href="exhibits.html#made-table-1"' in text and 'href="claims.html#made"' in text


def test_a_combination_has_its_record_and_its_executed_notebook(made):
    one, other = (
        (made.report / "combinations" / f"{made.identities[model]}.html").read_text()
        for model in ("XE-NDCG", "lambdaMART")
    )
    assert "the executed notebook" in one and "the executed notebook" not in other
    record = made.shown["made"].combinations[made.identities["lambdaMART"]].records[1]
    facts = record["record"]
    wanted = [record["seed"], facts["data"]["train"][:12], facts["test_fingerprint"][:12], facts["versions"]["numpy"]]
    assert all(str(fact) in other for fact in [*wanted, "lambdarank", 'href="../made.html"'])


def test_a_combinations_page_has_the_values_of_every_trial_and_code_that_runs_it_again(made):
    results, identity = made.shown["made"].results, made.identities["lambdaMART"]
    page = (made.report / "combinations" / f"{identity}.html").read_text()
    of_trials = results.trials("few", "ndcg@5")["lambdaMART"]
    each = ", ".join(f"{value:.4f}" for value in of_trials)
    assert f'<td>{of_trials.mean():.4f}</td><td class="words">{each}</td>' in page
    code = html.unescape(re.search("<pre[^>]*>(import rankplug.*?)</pre>", page, re.DOTALL)[1])
    asked = {}
    sweep = SimpleNamespace(sweep=lambda grid, **numbers: asked.update(grid, **numbers))
    exec(code.replace("import rankplug as rp", ""), {"rp": sweep})
    assert asked["loss"] == "lambdarank" and (asked["folds"], asked["trials"]) == ([1], 2)


def test_what_is_read_is_noted_by_group_and_model(made):
    results = made.shown["made"].results
    with results.noting_reads() as nothing:
        results.groups()
        results.models("few")
    with results.noting_reads() as all_of_it:
        results["few"]["value"].mean()
        with results.noting_reads() as one:
            results.mean("few", "ndcg@5", "XE-NDCG")
            results.mean("few", "ndcg@5", "XE-NDCG")
    assert not nothing and list(one) == [("few", "XE-NDCG")]
    assert list(all_of_it) == [("few", "lambdaMART"), ("few", "XE-NDCG")]


def test_an_exhibit_and_a_claim_lead_to_what_they_read(made):
    evaluation = made.shown["made"].evaluation
    assert [len(exhibit.sources) for exhibit in evaluation.exhibits] == [2, 2, 0]
    assert [len(claim.sources) for claim in evaluation.claims] == [2, 0, 0]
    first = evaluation.exhibit("Figure 2a").sources[0]
    assert (first.group, first.identities) == ("few", (made.identities[first.model],))


def test_a_metric_at_several_cut_offs_is_one_row_of_its_combination_and_a_transform_twice_is_two():
    plugin = {"distribution": "rankplug", "version": "1"}
    ndcg = [{"name": "ndcg", "parameters": {"gain": "linear", "k": k}, **plugin} for k in (1, 5)]
    other = {"name": "ndcg", "parameters": {"gain": "exponential", "k": 5}, **plugin}
    flips = [{"name": "flips", "parameters": {"share": 0.1, "parts": ["train", "valid"], "exact": False}, **plugin}] * 2
    inner = {"name": "mlp", "parameters": {"layers": [64, 32]}}
    made = {"name": "made", "parameters": {"documents": 15.0, "rate": 1e-08, "limit": None, "scorer": inner}, **plugin}
    plugins = {"dataset": [made], "transforms": flips, "metrics": [*ndcg, other]}
    record = {"plugins": plugins, "combination": {"seed": 3}}
    flipped = ("transforms", "flips", "share 0.1, parts (train,valid), exact false", "rankplug 1")
    assert CombinationRecords((record,)).plugins == [
        ("dataset", "made", "documents 15, rate 1e-08, limit none, scorer mlp[layers=(64,32)]", "rankplug 1"),
        flipped,
        flipped,
        ("metrics", "ndcg", "k 1, 5, gain linear", "rankplug 1"),
        ("metrics", "ndcg", "k 5, gain exponential", "rankplug 1"),
        ("patience", "none", "", ""),
        ("seed", "3", "", ""),
    ]


def test_text_of_results_is_shown_and_never_run(made):
    for page in pages(made.report):
        scripts = re.findall(r"<script([^>]*)>", (made.report / page).read_text())
        kinds = {
            "search.html": ["index"],
            "queries.html": ["groups"],
            "exhibits.html": ["points"],
            "made.html": ["points"],
        }
        data = [f' type="application/json" id="{name}"' for name in kinds.get(page, ())]
        assert scripts == ([] if page.startswith("combinations") else [*data, ""])
    assert "&lt;script&gt;" in (made.report / "claims.html").read_text()


def test_the_search_knows_every_claim_exhibit_and_combination_by_an_address_that_is_there(made):
    text = (made.report / "search.html").read_text()
    index = json.loads(re.search(rf"<script{INDEX}>(.*?)</script>", text, re.DOTALL)[1])
    kinds = [kind for kind, *_ in index]
    assert {kind: kinds.count(kind) for kind in kinds} == {
        "paper": 1, "claim": 3, "table": 2, "figure": 1, "combination": 2,
    }  # fmt: skip
    for _, _, _, address in index:
        page, _, anchor = address.partition("#")
        assert not anchor or f'id="{anchor}"' in (made.report / page).read_text()
    assert f"A paper {HOSTILE}" in {title for _, title, _, _ in index} and HOSTILE not in text


def test_figures_are_written_for_print_and_tables_for_other_programs(made):
    folder = made.report / "exhibits" / "made"
    assert sorted(path.name for path in folder.iterdir()) == [
        "figure-2a.csv",
        "figure-2a.pdf",
        "figure-2a.png",
        "figure-2a.svg",
        "figure-2a.tex",
        "table-1.csv",
        "table-1.tex",
        "table-3.csv",
        "table-3.tex",
    ]
    assert pd.read_csv(folder / "table-1.csv")["value"].tolist() == [0.5, 0.25]
    assert r"c \& d" in (folder / "table-1.tex").read_text()


def test_verdicts_are_written_for_other_programs(made):
    summary = json.loads((made.report / "claims.json").read_text())
    assert [claim["verdict"] for claim in summary["made"]] == ["fails", "holds", "not run"]
    first = Verdict.read({name: summary["made"][0][name] for name in Verdict.__dataclass_fields__})
    assert first.decisive.effect == -100 and first.measured_in == "points" and first.data == "made data"


def test_a_count_of_verdicts_leaves_out_what_was_not_judged(made):
    row = re.search(r'<a href="made.html">A paper.*?</tr>', (made.report / "index.html").read_text(), re.DOTALL)[0]
    assert re.findall(r'<span class="([\w-]+)">(\d+) ', row) == [("holds", "1"), ("fails", "1"), ("not-judged", "1")]
    assert "<td>100 %</td>" in row


def test_models_are_compared_query_by_query(made):
    results = made.shown["made"].results
    text = (made.report / "queries.html").read_text()
    (drawn,) = json.loads(re.search(r'<script type="application/json" id="groups">(.*?)</script>', text, re.DOTALL)[1])
    values = results.by_query("few", drawn["metric"])[list(drawn["models"])].to_numpy()
    assert drawn["queries"] == len(values) and list(drawn["means"]) == pytest.approx(values.mean(axis=0), abs=1e-4)
    assert drawn["better"] == [[int((one > other).sum()) for other in values.T] for one in values.T]
    assert [len(row) for row in drawn["values"]] == [min(200, len(values))] * 2 == [len(drawn["drawn"])] * 2
    wins, losses = ((values[:, 1] > values[:, 0]).mean(), (values[:, 1] < values[:, 0]).mean())
    cells = re.findall(r"<td>([\d.]+) %</td>", text)
    assert cells == [f"{100 * share:.0f}" for share in (wins, 1 - wins - losses, losses)]
    assert f'<details id="{drawn["id"]}">' in text and drawn["pages"][0].endswith(".html")
    assert f'href="queries.html#{drawn["id"]}"' in (made.report / "claims.html").read_text()


def test_an_exhibit_has_the_words_that_its_notebook_has_before_it(made):
    text = (made.report / "exhibits.html").read_text()
    told, picture = (
        re.search(r'id="made-table-1">(.*?)<section', text, re.DOTALL)[1],
        text.split('id="made-figure-2a"')[1],
    )
    assert "An integral" in told and "<math" in told and "<h1>Title" not in told and "An integral" not in picture


def test_an_exhibit_is_cited_in_bibtex_and_the_papers_of_a_report_too(made):
    text = (made.report / "exhibits.html").read_text()
    assert "@misc{rankplug-made-figure-2a," in text and "title = {{Figure 2a: a picture}}" in text
    assert "@software{rankplug," in text and "@software{rankplug," in (made.report / "index.html").read_text()


def test_observations_stand_below_the_claims_without_a_verdict(made):
    text = (made.report / "claims.html").read_text()
    assert "Observed, without a test" in text and "How many there are:" in text


def test_a_summary_has_ours_with_interval_the_published_number_and_the_data_in_its_place(made):
    one = made.shown["made"]
    row = {"published on": "Web|30K", "ours on": "synthetic", "model": "a model", "metric": "ndcg@5", "trials": 3}
    numbers = {"ours": 41.25, "half width": 1.5, "published": 40.0, "published half width": float("nan")}
    evaluation = evaluate(one.study, one.results)
    evaluation.exhibits = (ExhibitEvaluation(one.study.exhibits[0], pd.DataFrame([row | numbers])),)
    summary = markdown_summary({"made": dataclasses.replace(one, evaluation=evaluation)})
    assert "In the place of Web|30K: synthetic." in summary
    assert "| Web\\|30K | a model | 3 | 41.25\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}1.50 [40.00] |" in summary
    assert "**fails**" in summary


def test_a_study_has_a_name_that_its_pages_can_have():
    with pytest.raises(SpecificationError, match="is not a study's name, which its pages have too"):
        Study("../made", "", "", "", lambda profile, data: [], (), (), pd.DataFrame)
