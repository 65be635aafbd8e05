"""Targets are judged, findings survive their file, and tables and pages say what the reports say."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rankplug_benchmarks.harness import pages, reports, wording
from rankplug_benchmarks.harness.measurements import (
    Curve,
    Measurement,
    Table,
    Target,
    at_least,
    at_most,
    once,
    repeated,
)
from rankplug_benchmarks.harness.pictures import draw_targets
from rankplug_benchmarks.harness.subjects import Effort, Subject, chosen

from rankplug.errors import RankplugError
from rankplug.system import use_threads

FOUND = (
    once("ours over theirs", 0.2, threads=1, target=at_most(0.3)),
    repeated("theirs over ours", [30.0, 31.0, 32.0], threads=2, target=at_least(45)),
    once("memory", 12.0, threads=1, unit="MB", note="of one fit"),
    Curve("growth", "linear", "documents", "seconds", ((10.0, 1.0), (100.0, 10.0)), "xy"),
    Table("hours", ("study", "hours"), (("one", 12.5),)),
)


def measure(effort):
    """Yield findings that are always the same."""
    yield from FOUND


SUBJECT = Subject("made_up", "a made-up subject", f"{__name__}:measure")


@pytest.fixture
def report(monkeypatch):
    monkeypatch.setattr(Subject, "measure", lambda self, effort: measure(effort))
    return reports.run(SUBJECT, Effort())


@pytest.mark.parametrize(
    ("target", "value", "met"),
    [
        (at_most(0.3), 0.3, True),
        (at_most(0.3), 0.3001, False),
        (at_least(45), 45.0, True),
        (at_least(45), 44.9, False),
        (at_most(0.1), -0.02, True),
    ],
)
def test_a_target_is_met_on_its_side_of_the_limit(target, value, met):
    assert target.met(value) is met
    assert once("x", value, threads=1, target=target).verdict == ("met" if met else "falls short")


@given(st.floats(0.001, 1000), st.sampled_from(["at most", "at least"]), st.floats(0.001, 1000))
def test_no_value_but_the_limit_meets_both_directions(limit, direction, value):
    other = "at least" if direction == "at most" else "at most"
    both = Target(limit, direction).met(value) and Target(limit, other).met(value)
    assert both == (value == limit)


def test_a_report_is_read_as_it_was_written(report, tmp_path):
    assert reports.read(report.write(tmp_path)) == report


def test_a_report_tells_the_machine_the_date_and_the_verdicts(report, tmp_path):
    kept = json.loads(report.write(tmp_path).read_text())
    assert kept["machine"]["cores"] >= 1 and kept["machine"]["versions"]["lightgbm"]
    assert [measurement["verdict"] for measurement in kept["measurements"]] == ["met", "falls short", ""]


def test_a_damaged_report_is_named(tmp_path):
    (tmp_path / "losses.json").write_text('{"subject": "losses"}')
    with pytest.raises(RankplugError, match=r"losses\.json is no report.*run rankplug bench losses"):
        reports.read_all(tmp_path)


def test_the_table_marks_what_falls_short(report):
    first, second = wording.targets_table(report.measurements[:2]).splitlines()[2:]
    assert first == "| ours over theirs | 1 | 0.2 |  | <= 0.3 | met | 1 |"
    assert second == "| theirs over ours | 2 | **31** | 30.5 to 31.5 | >= 45 | falls short | 3 |"


def test_a_page_gets_its_parts_and_keeps_its_prose(report):
    empty = "<!-- bench:made_up/hours -->\n<!-- /bench:made_up/hours -->\n"
    page = f"Prose.\n<!-- bench:targets -->\nold\n<!-- /bench:targets -->\nMore.\n{empty}"
    parts = pages.parts({"made_up": report})
    filled = pages.fill(page, parts)
    assert filled.startswith("Prose.\n<!-- bench:targets -->\n| what |") and "\nMore.\n" in filled
    assert "old" not in filled and "| one | 12.5 |" in filled
    assert pages.fill(filled, parts) == filled


def test_a_part_of_no_known_subject_is_an_error(report):
    with pytest.raises(RankplugError, match=r"bench:made_op.*did you mean made_up"):
        pages.fill("<!-- bench:made_op -->\n<!-- /bench:made_op -->", pages.parts({"made_up": report}))


@pytest.mark.parametrize("name", ["made_up/other", "losses", "quality/MQ2008, by trees"])
def test_a_part_that_no_report_makes_says_so(name, report):
    page = f"<!-- bench:{name} -->\nold\n<!-- /bench:{name} -->"
    assert pages.ABSENT in pages.fill(page, pages.parts({"made_up": report}))


def test_quick_reports_fill_no_page(report, tmp_path):
    from dataclasses import replace

    replace(report, quick=True).write(tmp_path)
    with pytest.raises(RankplugError, match="made_up"):
        pages.write_pages(tmp_path, tmp_path)


def test_writing_pages_draws_the_figures_they_show(report, tmp_path):
    report.write(tmp_path / "results")
    page = tmp_path / "docs" / "page.md"
    page.parent.mkdir()
    page.write_text("<!-- bench:made_up/growth -->\n<!-- /bench:made_up/growth -->\n")
    assert pages.write_pages(tmp_path / "results", page.parent) == [page]
    name = page.read_text().split("(")[1].split(")")[0]
    assert (page.parent / name).stat().st_size > 1000


def test_better_than_its_target_is_right_of_the_line_in_either_direction(report):
    axes = draw_targets(report.measurements).axes[0]
    places = [line.get_xdata()[0] for line in axes.get_lines() if line.get_marker() in ("o", "X")]
    assert places == pytest.approx([0.3 / 0.2, 31 / 45])


@given(st.floats(1e-6, 1e9))
def test_a_number_in_words_is_within_a_half_percent_at_three_digits(value):
    assert float(wording.in_words(value, 3).replace(",", "")) == pytest.approx(value, rel=0.0051)


def test_a_benchmark_that_does_not_exist_is_named_with_a_likely_one():
    with pytest.raises(RankplugError, match="no benchmark loses: did you mean losses"):
        chosen(["loses"])


def test_effort_measures_on_one_thread_and_on_all():
    with use_threads(1):
        assert Effort().threads == (1,)
    with use_threads(3):
        assert Effort().threads == (1, 3)


def test_measurements_of_one_value_have_no_quartiles():
    assert wording.quartiles_of(Measurement("x", 1.0, 1.0, 1.0)) == ""
