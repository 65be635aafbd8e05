"""The report: a folder of plain HTML pages that needs no network, with every figure and table beside it as files."""

from __future__ import annotations

from rankplug.report.site import build_report as build_report
