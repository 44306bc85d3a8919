from __future__ import annotations

from collections.abc import Callable

import pytest
from release_rows import bilingual_row, english_row

from physelite_build.publish.schema import CONFIGS, SUBJECTS, columns_of, features_of
from physelite_build.publish.splits import split_of
from physelite_build.publish.table import flat_row

Images = Callable[[str], bytes]


@pytest.mark.parametrize("config", CONFIGS)
def test_column_names_are_unique(config: str) -> None:
    names = [column.name for column in columns_of(config)]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("config", CONFIGS)
def test_every_column_is_described(config: str) -> None:
    assert all(c.description.endswith(".") for column in columns_of(config) for c in (column, *column.inner))


@pytest.mark.parametrize("config", CONFIGS)
def test_features_have_the_columns_in_order(config: str) -> None:
    assert list(features_of(config)) == [column.name for column in columns_of(config)]


def test_subject_is_a_class_label() -> None:
    assert tuple(features_of("default")["subject"].names) == SUBJECTS


@pytest.mark.parametrize("config", CONFIGS)
def test_flat_row_fills_every_column(config: str, images: Images) -> None:
    flat = flat_row(bilingual_row(), config, images=images, canary="c")
    assert list(flat) == [column.name for column in columns_of(config)]


def test_parts_of_both_languages_stand_side_by_side(images: Images) -> None:
    parts = flat_row(bilingual_row(), "default", images=images, canary="c")["parts"]
    assert [(part["label"], part["text_zh"], part["text_en"]) for part in parts] == [
        ("1", "求末速度 $v$。", "Find its speed."),
        ("2", None, "Find the time."),
    ]


def test_each_language_shows_its_own_figures(images: Images) -> None:
    assert flat_row(bilingual_row(), "zh", images=images, canary="c")["diagram_captions"] == ["图1"]


def test_bilingual_row_shows_the_scan_with_more_figures(images: Images) -> None:
    assert flat_row(bilingual_row(), "default", images=images, canary="c")["diagram_languages"] == ["en", "en"]


def test_language_without_figures_borrows_them(images: Images) -> None:
    row = bilingual_row()
    assert row.zh is not None
    bare = row.model_copy(update={"zh": row.zh.model_copy(update={"diagrams": ()})})
    assert flat_row(bare, "zh", images=images, canary="c")["diagram_languages"] == ["en", "en"]


def test_unknown_subject_and_difficulty_are_null(images: Images) -> None:
    flat = flat_row(english_row(2), "default", images=images, canary="c")
    assert (flat["subject"], flat["difficulty"]) == (None, None)


def test_split_never_changes() -> None:
    known = {"PE-000001": "test", "PE-000002": "dev", "PE-000003": "test", "PE-000010": "test"}
    assert {group: split_of(group) for group in known} == known


def test_about_a_fifth_of_all_groups_is_dev() -> None:
    share = sum(split_of(f"PE-{n:06d}") == "dev" for n in range(5000)) / 5000
    assert 0.18 < share < 0.22
