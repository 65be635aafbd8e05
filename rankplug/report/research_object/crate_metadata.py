"""Metadata of a crate, as JSON-LD: what was run, with which plugins, versions and data, and what came of it."""

from __future__ import annotations

import json
import mimetypes
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankplug.errors import RankplugError
from rankplug.registry import registry
from rankplug.report.rendering import slug
from rankplug.store import sha256_of
from rankplug.studies import Citation
from rankplug.system import __version__

if TYPE_CHECKING:
    from rankplug.report.study_report import StudyReport

Entity = dict[str, Any]
METADATA = "ro-crate-metadata.json"
WORKFLOW = "sweep.yaml"
PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": "Process Run Crate",
    "https://w3id.org/ro/wfrun/workflow/0.5": "Workflow Run Crate",
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": "Workflow RO-Crate",
}
CONTEXT = [
    "https://w3id.org/ro/crate/1.1/context",
    {"sha256": "https://w3id.org/ro/terms/workflow-run#sha256"},
]
LICENCE = "https://spdx.org/licenses/MIT"
KINDS = {".parquet": "application/vnd.apache.parquet", ".ipynb": "application/x-ipynb+json", ".yml": "application/yaml"}


def crate_metadata(
    shown: Mapping[str, StudyReport], records: list[dict[str, Any]], contents: Mapping[str, bytes]
) -> dict[str, Any]:
    """Return the metadata of a crate: its files, the runs behind them and what these rest on."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for record in records:
        groups.setdefault(record["identity"], []).append(record)
    runs = [entity for trials in groups.values() for entity in _run(trials)]
    made = [name for name in contents if name.startswith(("exhibits/", "notebooks/", "results/"))] + ["claims.json"]
    whole = {
        "@id": "#reproduction",
        "@type": "CreateAction",
        "name": f"Reproduction of {', '.join(shown)}",
        "instrument": _to(WORKFLOW),
        "agent": _to("#contributors"),
        "object": _references(entity for entity in runs if entity["@type"] == "Dataset"),
        "result": [_to(name) for name in made],
        **_times(records),
    }
    named = "; ".join(report.study.title for report in shown.values())
    root = {
        "@id": "./",
        "@type": "Dataset",
        "name": f"Results of rankplug: {', '.join(shown)}",
        "description": f"Runs, figures, tables and verdicts of {named}, with the numbers of every test query.",
        "datePublished": datetime.now(UTC).date().isoformat(),
        "license": _to(LICENCE),
        "conformsTo": [_to(profile) for profile in PROFILES],
        "mainEntity": _to(WORKFLOW),
        "hasPart": [_to(name) for name in contents],
        "mentions": [_to("#reproduction"), *_references(run for run in runs if run["@type"] == "CreateAction")],
        "citation": [_to(paper["@id"]) for paper in _papers(shown)],
        "author": _to("#contributors"),
        "publisher": _to("#contributors"),
    }
    descriptor = {
        "@id": METADATA,
        "@type": "CreativeWork",
        "about": _to("./"),
        "conformsTo": [_to("https://w3id.org/ro/crate/1.1"), _to("https://w3id.org/workflowhub/workflow-ro-crate/1.0")],
    }
    entities = [descriptor, root, *_surroundings(records), *_papers(shown), whole, *runs]
    entities += [_file(name, content) for name, content in contents.items()]
    unique = {entity["@id"]: entity for entity in entities}
    return {"@context": CONTEXT, "@graph": list(unique.values())}


def result_name(record: Mapping[str, Any]) -> str:
    """Return the path of a result in a store."""
    return f"{record['identity']}/{record['identity']}-f{record['fold']}-t{record['trial']}.parquet"


def _surroundings(records: Iterable[Mapping[str, Any]]) -> Iterator[Entity]:
    """Yield what the runs rest on: licence, profiles, language, contributors, and the packages with their versions."""
    yield {
        "@id": LICENCE,
        "@type": "CreativeWork",
        "name": "MIT License",
        "description": "Permission to use, copy, change and distribute, without warranty.",
        "identifier": LICENCE,
    }
    for profile, name in PROFILES.items():
        yield {"@id": profile, "@type": "CreativeWork", "name": name, "version": profile.rpartition("/")[2]}
    yield {"@id": "#contributors", "@type": "Organization", "name": "The rankplug contributors", "url": LICENCE}
    yield {
        "@id": "#language",
        "@type": "ComputerLanguage",
        "name": "rankplug sweep file",
        "identifier": "https://yaml.org",
        "url": "https://yaml.org",
        "version": __version__,
    }
    for package, version in sorted(_versions(records)):
        yield {
            "@id": f"#{package}-{version}",
            "@type": "SoftwareApplication",
            "name": package,
            "softwareVersion": version,
            **_home(package),
        }


def _home(package: str) -> dict[str, str]:
    """Return the page that an installed package names as its home; Python, and one that names none, have none."""
    try:
        about = metadata.metadata(package)
    except metadata.PackageNotFoundError:
        return {}
    named = [page.partition(", ")[2] for page in about.get_all("Project-URL") or ()]
    pages = [*(about.get_all("Home-page") or ()), *named]
    return next(({"url": page} for page in pages if page), {})


def _versions(records: Iterable[Mapping[str, Any]]) -> set[tuple[str, str]]:
    versions = {("rankplug", __version__)}
    for record in records:
        versions.update({**record.get("versions", {}), **record["record"].get("versions", {})}.items())
    return versions


def _papers(shown: Mapping[str, StudyReport]) -> list[Entity]:
    """Return the papers that are run again."""
    papers = []
    for report in shown.values():
        cited = report.study.citation
        if isinstance(cited, Citation):
            address = f"https://doi.org/{cited.doi}" if cited.doi else cited.url or f"#{report.study.name}"
            facts = {"name": cited.title, "description": str(cited), "datePublished": str(cited.year)}
            papers.append({"@id": address, "@type": "ScholarlyArticle", **facts})
    return papers


def _run(trials: list[dict[str, Any]]) -> Iterator[Entity]:
    """Yield a combination's run with its parameters, its data, and the results of its trials."""
    first = trials[0]
    identity, parts = first["identity"], first["combination"]
    parameters = list(_parameters(identity, first))
    data = list(_data(trials))
    yield from parameters
    yield from data
    yield _licence(parts["dataset"])
    yield {
        "@id": f"#{identity}",
        "@type": "CreateAction",
        "name": f"{parts['dataset']} / {parts['backend']} / {parts['loss']}",
        "description": f"{len(trials)} trials of the combination {identity}",
        "identifier": identity,
        "instrument": _to(f"#rankplug-{__version__}"),
        "agent": _to("#contributors"),
        "object": [*_references(parameters), *_references(data)],
        "result": [_to(f"results/{result_name(trial)}") for trial in trials],
        **_times(trials),
    }


def _parameters(identity: str, record: Mapping[str, Any]) -> Iterator[Entity]:
    for part, plugins in record.get("plugins", {}).items():
        for index, plugin in enumerate(plugins):
            origin = f"{plugin['distribution']} {plugin['version']}"
            yield {
                "@id": f"#{identity}-{part}-{index}",
                "@type": "PropertyValue",
                "name": part,
                "value": f"{plugin['name']} {json.dumps(plugin['parameters'])}",
                "description": f"from {origin}",
            }
    for part in ("seed", "patience"):
        value = record["combination"].get(part)
        yield {"@id": f"#{identity}-{part}", "@type": "PropertyValue", "name": part, "value": str(value)}


def _data(trials: Iterable[Mapping[str, Any]]) -> Iterator[Entity]:
    """Yield the data of some trials: a part of a split for each digest."""
    for record in trials:
        facts = record["record"]
        digests = {**facts.get("data", {}), "test": facts.get("test_fingerprint", "")}
        for part, digest in digests.items():
            if digest:
                name = f"{part} part of {record['combination']['dataset']}, fold {record['fold']}"
                yield {
                    "@id": f"#data-{digest}",
                    "@type": "Dataset",
                    "name": name,
                    "description": f"{name}; rankplug data info tells its source.",
                    "identifier": digest,
                    "license": _to(_licence(record["combination"]["dataset"])["@id"]),
                }


def _licence(dataset: str) -> Entity:
    """Return what may be done with a data set, as its plugin says."""
    name = str(dataset).partition("[")[0]
    try:
        words = registry().specification("dataset", name).licence
    except RankplugError:
        words = ""
    told = words or "Its plugin names no licence; ask those who offer the data."
    return {
        "@id": f"#licence-of-{slug(name)}",
        "@type": "CreativeWork",
        "name": f"Licence of {name}",
        "description": told,
    }


def _times(records: Iterable[Mapping[str, Any]]) -> Entity:
    facts = [record["record"] for record in records if "started" in record["record"]]
    if not facts:
        return {}
    spans = [sum(float(fact.get(f"{part}_seconds", 0.0)) for part in ("load", "fit", "measure")) for fact in facts]
    first = min(record["started"] for record in facts)
    last = max(record["started"] + span for record, span in zip(facts, spans, strict=True))
    words = (datetime.fromtimestamp(moment, UTC).isoformat(timespec="seconds") for moment in (first, last))
    return dict(zip(("startTime", "endTime"), words, strict=True))


def _file(name: str, content: bytes) -> Entity:
    suffix = Path(name).suffix
    kind = KINDS.get(suffix) or mimetypes.guess_type(name)[0] or "text/plain"
    entity: Entity = {
        "@id": name,
        "@type": "File",
        "name": name,
        "encodingFormat": kind,
        "contentSize": str(len(content)),
        "sha256": sha256_of(content),
    }
    if name == WORKFLOW:
        entity |= {
            "@type": ["File", "SoftwareSourceCode", "ComputationalWorkflow"],
            "name": "What was run",
            "description": "A sweep file: rankplug sweep sweep.yaml runs it again.",
            "programmingLanguage": _to("#language"),
            "license": _to(LICENCE),
        }
    return entity


def _to(identifier: str) -> dict[str, str]:
    return {"@id": identifier}


def _references(entities: Iterable[Entity]) -> list[dict[str, str]]:
    return [_to(name) for name in dict.fromkeys(entity["@id"] for entity in entities)]
