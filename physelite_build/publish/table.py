"""Rows as columns and Parquet files with the pictures inside. Neighbours: ``schema.py`` (columns), ``release.py``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from physelite_build.errors import FatalError
from physelite_build.publish.schema import (
    Column,
    Config,
    ReleaseRow,
    RowDiagram,
    RowPart,
    RowText,
    columns_of,
    features_of,
)
from physelite_build.publish.splits import SPLITS, Split, split_of
from physelite_build.records import Language

__all__ = ["WrittenSplit", "flat_row", "write_config"]

SHARD_BYTES = 256 * 2**20
"""Picture bytes per file; the Hub recommends files below 500 MB."""


@dataclass(frozen=True, slots=True)
class WrittenSplit:
    """One split of one configuration as it lies on disk."""

    config: Config
    split: Split
    rows: int
    memory_bytes: int
    """Size as an Arrow table, for the card's ``num_bytes``."""
    paths: tuple[Path, ...]


def write_config(
    folder: Path, config: Config, rows: Sequence[ReleaseRow], *, images: Callable[[str], bytes], canary: str
) -> list[WrittenSplit]:
    """Write ``<folder>/data/<config>/<split>-*.parquet`` for each split that has rows.

    Args:
        folder: Release folder.
        config: Which configuration; ``zh`` and ``en`` hold only rows that exist in that language.
        rows: All rows, sorted by id.
        images: Gives the PNG bytes of a digest.
        canary: Sentence for the column of that name.

    Returns:
        What was written; empty if no row belongs to the configuration.

    Raises:
        FatalError: ``release.no_image`` if a picture has no bytes.
    """
    written = []
    wanted = [row for row in rows if config == "default" or config in row.languages]
    for split in SPLITS:
        chosen = [row for row in wanted if split_of(row.group_id) == split]
        if chosen:
            written.append(_write_split(folder, config, split, chosen, images=images, canary=canary))
    return written


def _write_split(
    folder: Path,
    config: Config,
    split: Split,
    rows: Sequence[ReleaseRow],
    *,
    images: Callable[[str], bytes],
    canary: str,
) -> WrittenSplit:
    from datasets import Dataset

    flat = [flat_row(row, config, images=images, canary=canary) for row in rows]
    picture_bytes = sum(len(picture["bytes"]) for row in flat for picture in row["diagrams"])
    shards = min(len(flat), max(1, -(-picture_bytes // SHARD_BYTES)))
    dataset = Dataset.from_list(flat, features=features_of(config))
    target = folder / "data" / config
    target.mkdir(parents=True, exist_ok=True)
    paths = [target / f"{split}-{index:05d}-of-{shards:05d}.parquet" for index in range(shards)]
    with _quiet():
        for index, path in enumerate(paths):
            dataset.shard(shards, index, contiguous=True).to_parquet(path)
    return WrittenSplit(config, split, len(flat), int(dataset.data.nbytes), tuple(paths))


@contextmanager
def _quiet() -> Iterator[None]:
    """Hide the progress bars of ``datasets`` and leave its switch as it was."""
    from datasets.utils import are_progress_bars_disabled, disable_progress_bars, enable_progress_bars

    was_disabled = are_progress_bars_disabled()
    disable_progress_bars()
    try:
        yield
    finally:
        if not was_disabled:
            enable_progress_bars()


def flat_row(row: ReleaseRow, config: Config, *, images: Callable[[str], bytes], canary: str) -> dict[str, Any]:
    """Lay one row out in the columns of a configuration.

    Raises:
        FatalError: ``release.no_image`` if a picture has no bytes.
    """
    texts: dict[Language, RowText | None] = {"zh": row.zh, "en": row.en}
    diagrams = _diagrams(row, config)
    values: dict[str, Any] = {
        "id": row.id,
        "group_id": row.group_id,
        "version_added": row.version_added,
        "languages": list(row.languages),
        "answers": [answer.model_dump(mode="json") for answer in row.answers],
        "diagrams": [_picture(row.id, k, d, images) for k, (_, d) in enumerate(diagrams, start=1)],
        "diagram_roles": [str(d.role) for _, d in diagrams],
        "diagram_captions": [d.caption for _, d in diagrams],
        "diagram_parts": [d.part for _, d in diagrams],
        "diagram_languages": [language for language, _ in diagrams],
        "subject": row.subject,
        "difficulty": row.difficulty,
        "sources": [source.model_dump(mode="json") for source in row.sources],
        "rights": " AND ".join(dict.fromkeys(s.rights for s in row.sources if s.rights)) or None,
        "engines": list(row.engines),
        "lowest_confidence": row.lowest_confidence,
        "review_state": row.review_state,
        "canary": canary,
    }
    if config == "default":
        values["parts"] = _paired_parts(row)
        for language, text in texts.items():
            values |= {f"{name}_{language}": value for name, value in _text_values(text).items()}
    else:
        text = texts[config]
        values |= _text_values(text)
        values["parts"] = [part.model_dump() for part in (text.parts if text else ())]
    return {column.name: _ordered(column, values[column.name]) for column in columns_of(config)}


def _text_values(text: RowText | None) -> dict[str, Any]:
    names = ("problem_key", "title", "statement", "solution", "final_answer")
    values: dict[str, Any] = {name: getattr(text, name, None) for name in names}
    values["steps"] = [step.model_dump() for step in (text.steps if text else ())]
    return values


def _ordered(column: Column, value: Any) -> Any:
    """Bring nested entries into the order of the column definition; an unknown field is an error."""
    if column.type != "records":
        return value
    return [{inner.name: entry[inner.name] for inner in column.inner} for entry in value]


def _paired_parts(row: ReleaseRow) -> list[dict[str, str | None]]:
    """Put the parts of both languages side by side; the k-th part of one label meets the k-th of the other language."""
    paired: dict[tuple[str, int], dict[str, str | None]] = {}
    for language in row.languages:
        text = row.text(language)
        for key, part in _numbered(text.parts if text else ()):
            entry = paired.setdefault(key, {"label": part.label, "text_zh": None, "text_en": None})
            entry[f"text_{language}"] = part.text
    return list(paired.values())


def _numbered(parts: Iterable[RowPart]) -> list[tuple[tuple[str, int], RowPart]]:
    seen: dict[str, int] = {}
    numbered = []
    for part in parts:
        seen[part.label] = seen.get(part.label, 0) + 1
        numbered.append(((part.label, seen[part.label]), part))
    return numbered


def _diagrams(row: ReleaseRow, config: Config) -> list[tuple[Language, RowDiagram]]:
    """Choose the scan whose figures are shown: the row's own language, else the one with more figures, Chinese first."""
    by_language = {language: text.diagrams for language in row.languages if (text := row.text(language)) is not None}
    if config != "default" and by_language.get(config):
        return [(config, diagram) for diagram in by_language[config]]
    best = max(by_language, key=lambda language: len(by_language[language]), default=None)
    return [] if best is None else [(best, diagram) for diagram in by_language[best]]


def _picture(row_id: str, number: int, diagram: RowDiagram, images: Callable[[str], bytes]) -> dict[str, Any]:
    data = images(diagram.image_sha256)
    if not data:
        raise FatalError("release.no_image", f"figure {number} of {row_id} has no bytes; build the corpus again")
    return {"bytes": data, "path": f"{row_id}_{number}.png"}
