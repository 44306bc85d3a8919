"""The texts of a release, generated from its data: card with metadata, licence, changelog.

The words stand in ``templates/``; this module counts. Neighbours: ``schema.py`` (field table), ``release.py`` (caller).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import jinja2

from physelite_build.publish.schema import (
    FIELDS,
    SUBJECTS,
    Column,
    Config,
    ReleaseMeta,
    ReleaseRow,
    ReleaseSource,
    columns_of,
    features_of,
)
from physelite_build.publish.splits import DEV_SHARE, SEED
from physelite_build.publish.table import WrittenSplit

__all__ = ["Card", "render_card", "render_changelog", "render_licence"]

_HUB_LICENCES = frozenset(
    "apache-2.0 mit bsd-3-clause cc0-1.0 cc-by-3.0 cc-by-4.0 cc-by-sa-3.0 cc-by-sa-4.0 cc-by-nc-3.0 cc-by-nc-4.0 "
    "cc-by-nc-sa-3.0 cc-by-nc-sa-4.0 cc-by-nd-4.0 cc-by-nc-nd-3.0 cc-by-nc-nd-4.0 odbl gpl-3.0 unlicense".split()
)
"""Identifiers the Hub accepts in ``license`` (huggingface.co/docs/hub/repositories-licenses)."""
_SIZES = ((10**3, "n<1K"), (10**4, "1K<n<10K"), (10**5, "10K<n<100K"), (10**6, "100K<n<1M"))
_MAX_IDS = 40
"""Ids listed per version in the changelog; more make it unreadable."""


@dataclass(frozen=True, slots=True)
class Card:
    """What the texts are generated from; ``rows`` are sorted by id."""

    version: str
    rows: tuple[ReleaseRow, ...]
    meta: ReleaseMeta
    written: tuple[WrittenSplit, ...]

    @property
    def configs(self) -> tuple[Config, ...]:
        """Configurations that hold at least one row."""
        return tuple(dict.fromkeys(part.config for part in self.written))


@dataclass(frozen=True, slots=True)
class Count:
    """One line of a table of counts."""

    label: str
    number: int


def render_card(card: Card) -> str:
    """Return the text of ``README.md`` with its YAML head."""
    rows = card.rows
    return (
        _environment()
        .get_template("card.md.j2")
        .render(
            yaml=_yaml(card),
            card=card,
            meta=card.meta,
            repo=card.meta.repo_id or "PATH-OF-THIS-FOLDER",
            languages=_counts(
                {("zh", "en"): "Chinese and English", ("zh",): "Chinese only", ("en",): "English only"}[row.languages]
                for row in rows
                if row.languages
            ),
            subjects=_counts(row.subject or "not known" for row in rows),
            kinds=_counts(str(answer.kind) for row in rows for answer in row.answers),
            states=_counts(row.review_state for row in rows),
            scored=sum(bool(row.answers) for row in rows),
            figures=_distinct_figures(rows),
            with_figures=sum(bool((row.zh and row.zh.diagrams) or (row.en and row.en.diagrams)) for row in rows),
            unreviewed=sum(row.review_state == "machine" for row in rows),
            fields=_field_table(card),
            sources=sorted(card.meta.sources, key=lambda source: source.document),
            dev_percent=round(100 * DEV_SHARE),
            seed=SEED,
            bibtex_key=re.sub(r"\W+", "", card.meta.name).lower() or "dataset",
        )
    )


def render_licence(card: Card) -> str:
    """Return the text of ``LICENSE``: the rights of every source, grouped."""
    grouped: dict[str, list[ReleaseSource]] = {}
    for source in sorted(card.meta.sources, key=lambda source: source.document):
        grouped.setdefault(source.rights or "not stated", []).append(source)
    return _environment().get_template("licence.txt.j2").render(meta=card.meta, grouped=sorted(grouped.items()))


def render_changelog(card: Card) -> str:
    """Return the text of ``CHANGELOG.md``: which problems came with which version, newest first."""
    added: dict[str, list[str]] = {card.version: []}
    for row in card.rows:
        added.setdefault(row.version_added, []).append(row.id)
    versions = sorted(added, key=_version_key, reverse=True)
    return (
        _environment()
        .get_template("changelog.md.j2")
        .render(
            card=card, meta=card.meta, versions=[(version, added[version]) for version in versions], max_ids=_MAX_IDS
        )
    )


def _environment() -> jinja2.Environment:
    # Markdown, not HTML: values pass through the filter ``line`` where a table or a paragraph could break.
    environment = jinja2.Environment(  # noqa: S701
        loader=jinja2.PackageLoader("physelite_build.publish"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["line"] = _line
    environment.filters["plain"] = lambda value: " ".join(str(value).split())
    return environment


def _line(value: object) -> str:
    """Write a value so that it stays one cell of a Markdown table and starts no HTML."""
    text = " ".join(str(value).split())
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")


def _counts(labels: Iterable[str]) -> list[Count]:
    return [Count(label, number) for label, number in sorted(Counter(labels).items(), key=lambda i: (-i[1], i[0]))]


def _distinct_figures(rows: Iterable[ReleaseRow]) -> int:
    texts = (text for row in rows for text in (row.zh, row.en) if text is not None)
    return len({diagram.image_sha256 for text in texts for diagram in text.diagrams})


def _version_key(version: str) -> tuple[list[int], bool, str]:
    numbers, _, suffix = version.partition("-")
    return [int(part) if part.isdigit() else 0 for part in numbers.split(".")], not suffix, suffix


def _field_table(card: Card) -> list[tuple[Column, str, str]]:
    """List each column once with its readable type and the configurations that have it."""
    seen: dict[Column, list[str]] = {}
    for config in card.configs:
        for column in columns_of(config):
            seen.setdefault(column, []).append(config)
    names = {
        "strings": "list of string",
        "int32s": "list of int32",
        "images": "list of image",
        "records": "list of record",
        "subject": f"class label ({', '.join(SUBJECTS)})",
    }
    return [(c, names.get(c.type, c.type), ", ".join(seen[c])) for c in FIELDS if c in seen]


def _yaml(card: Card) -> str:
    import yaml

    rights = {(source.rights or "").strip().lower() for source in card.meta.sources}
    licence = rights.pop() if len(rights) == 1 else "other"
    head: dict[str, Any] = {
        "pretty_name": card.meta.name,
        "language": [tag for tag in ("zh", "en") if any(tag in row.languages for row in card.rows)],
        "license": licence if licence in _HUB_LICENCES else "other",
    }
    if head["license"] == "other":
        head |= {"license_name": "per-source", "license_link": "LICENSE"}
    head |= {
        "task_categories": ["question-answering", "visual-question-answering"],
        "tags": ["physics", "olympiad", "benchmark", "multimodal"],
        "size_categories": [next((name for limit, name in _SIZES if len(card.rows) < limit), "n>1M")],
        "configs": [_data_files(card, config) for config in card.configs],
        "dataset_info": [_dataset_info(card, config) for config in card.configs],
    }
    return str(yaml.safe_dump(head, allow_unicode=True, sort_keys=False, width=120))


def _data_files(card: Card, config: Config) -> dict[str, Any]:
    files = [
        {"split": part.split, "path": f"data/{config}/{part.split}-*.parquet"}
        for part in card.written
        if part.config == config
    ]
    return {"config_name": config, **({"default": True} if config == "default" else {}), "data_files": files}


def _dataset_info(card: Card, config: Config) -> dict[str, Any]:
    parts = [part for part in card.written if part.config == config]
    return {
        "config_name": config,
        "features": features_of(config)._to_yaml_list(),
        "splits": [{"name": p.split, "num_bytes": p.memory_bytes, "num_examples": p.rows} for p in parts],
        "download_size": sum(path.stat().st_size for part in parts for path in part.paths),
        "dataset_size": sum(part.memory_bytes for part in parts),
    }
