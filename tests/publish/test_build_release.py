from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
import yaml
from release_rows import bilingual_row, english_row

from physelite_build.errors import FatalError
from physelite_build.publish import ReleaseMeta, ReleaseRow, ReleaseSummary, build_release
from physelite_build.publish.manifest import files_of, read_manifest

Build = Callable[..., ReleaseSummary]


@pytest.fixture(scope="session")
def build(meta: ReleaseMeta, images: Callable[[str], bytes], scorer_package: Path) -> Build:
    def build_it(out: Path, rows: Sequence[ReleaseRow], **changes: Any) -> ReleaseSummary:
        values = {"version": "0.1.0", "meta": meta, "images": images, "scorer_package": scorer_package} | changes
        return build_release(out, rows=rows, **values)

    return build_it


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory, build: Build, rows: list[ReleaseRow]) -> Path:
    return build(tmp_path_factory.mktemp("releases") / "0.1.0", rows).folder


def card_head(folder: Path) -> dict[str, Any]:
    head: dict[str, Any] = yaml.safe_load((folder / "README.md").read_text(encoding="utf-8").split("---\n")[1])
    return head


def test_release_holds_the_agreed_files(folder: Path) -> None:
    assert {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()} == {
        *("README.md", "LICENSE", "CHANGELOG.md", "MANIFEST.json", "answers.jsonl"),
        *("scorer/__init__.py", "scorer/__main__.py"),
        *(f"data/{part}-00000-of-00001.parquet" for part in ("default/dev", "default/test", "en/dev", "en/test")),
        "data/zh/test-00000-of-00001.parquet",
    }


def test_order_of_rows_does_not_change_any_byte(
    tmp_path: Path, folder: Path, build: Build, rows: list[ReleaseRow]
) -> None:
    again = build(tmp_path / "again", list(reversed(rows))).folder
    assert files_of(again) == files_of(folder)
    assert (again / "MANIFEST.json").read_bytes() == (folder / "MANIFEST.json").read_bytes()


def test_manifest_lists_every_other_file(folder: Path) -> None:
    assert read_manifest(folder).files == files_of(folder)


def test_gold_file_holds_only_problems_with_answers(folder: Path) -> None:
    lines = [json.loads(line) for line in (folder / "answers.jsonl").read_text(encoding="utf-8").splitlines()]
    answer = {"part": "1", "answer": r"$v=\sqrt{2gh}$", "kind": "expression", "tolerance": None}
    canary = lines[0].pop("canary")
    assert lines == [{"id": "PE-000001", "subject": "mechanics", "difficulty": 3, "answers": [answer]}]
    assert "canary GUID" in canary


def test_every_picture_has_its_bytes_in_the_file(folder: Path) -> None:
    pictures = [
        picture
        for path in folder.glob("data/*/*.parquet")
        for row in pyarrow.parquet.read_table(path, columns=["diagrams"]).to_pylist()
        for picture in row["diagrams"]
    ]
    assert len(pictures) == 5
    assert all(picture["bytes"].startswith(b"\x89PNG") for picture in pictures)


def test_no_group_is_in_two_splits(folder: Path) -> None:
    groups = {
        split: {
            row
            for path in folder.glob(f"data/*/{split}-*.parquet")
            for row in pyarrow.parquet.read_table(path, columns=["group_id"])["group_id"].to_pylist()
        }
        for split in ("dev", "test")
    }
    assert not groups["dev"] & groups["test"]


def test_every_row_carries_the_canary(folder: Path, meta: ReleaseMeta) -> None:
    column = pyarrow.parquet.read_table(next(folder.glob("data/default/test-*")), columns=["canary"])["canary"]
    assert set(column.to_pylist()) == {meta.canary}


def test_card_declares_only_splits_that_exist(folder: Path) -> None:
    declared = {c["config_name"]: [f["split"] for f in c["data_files"]] for c in card_head(folder)["configs"]}
    assert declared == {"default": ["dev", "test"], "zh": ["test"], "en": ["dev", "test"]}


def test_licence_is_other_when_sources_differ(folder: Path) -> None:
    assert card_head(folder)["license"] == "other"


def test_common_licence_is_declared(tmp_path: Path, build: Build, meta: ReleaseMeta, rows: list[ReleaseRow]) -> None:
    one = meta.model_copy(update={"sources": meta.sources[:1]})
    assert card_head(build(tmp_path / "r", rows, meta=one).folder)["license"] == "cc-by-4.0"


@pytest.mark.parametrize(
    "fact", ["8 of 8 problems", "nobody has reviewed it", r"Open \| cup", "| mechanics | 1 |", "canary GUID"]
)
def test_card_states(folder: Path, fact: str) -> None:
    assert fact in (folder / "README.md").read_text(encoding="utf-8")


def test_changelog_lists_problems_under_the_version_that_added_them(tmp_path: Path, build: Build) -> None:
    made = build(tmp_path / "r", [english_row(2), english_row(3, version_added="0.2.0")], version="0.2.0").folder
    text = (made / "CHANGELOG.md").read_text(encoding="utf-8")
    assert text.index("## 0.2.0") < text.index("PE-000003") < text.index("## 0.1.0") < text.index("PE-000002")


def test_release_of_one_row_has_one_split(tmp_path: Path, build: Build) -> None:
    made = build(tmp_path / "r", [bilingual_row()])
    assert {part.split for part in made.splits} == {"test"}


def test_same_release_is_left_alone(tmp_path: Path, build: Build) -> None:
    first = build(tmp_path / "r", [english_row(2)])
    assert (first.is_new, build(tmp_path / "r", [english_row(2)]).is_new) == (True, False)


def test_release_of_other_content_is_refused(tmp_path: Path, build: Build) -> None:
    build(tmp_path / "r", [english_row(2)])
    before = files_of(tmp_path / "r")
    with pytest.raises(FatalError, match=r"release\.exists"):
        build(tmp_path / "r", [english_row(3)])
    assert files_of(tmp_path / "r") == before


def test_release_of_other_content_is_replaced_on_demand(tmp_path: Path, build: Build) -> None:
    build(tmp_path / "r", [english_row(2)])
    build(tmp_path / "r", [english_row(3)], overwrite=True)
    assert [path.name for path in tmp_path.iterdir()] == ["r"]
    assert "PE-000003" in (tmp_path / "r" / "CHANGELOG.md").read_text(encoding="utf-8")


def test_damaged_release_does_not_pass_for_the_same(tmp_path: Path, build: Build) -> None:
    build(tmp_path / "r", [english_row(2)])
    (tmp_path / "r" / "LICENSE").write_text("x")
    with pytest.raises(FatalError, match=r"release\.exists"):
        build(tmp_path / "r", [english_row(2)])


def test_nothing_is_left_behind_when_a_picture_is_missing(tmp_path: Path, build: Build) -> None:
    with pytest.raises(FatalError, match=r"release\.no_image"):
        build(tmp_path / "r", [bilingual_row()], images=lambda _: b"")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("code", "rows", "changes"),
    [
        ("release.empty", [], {}),
        ("release.bad_version", [english_row(2)], {"version": "../1"}),
        ("release.repeated_id", [english_row(2), english_row(2)], {}),
        ("release.no_scorer", [english_row(2)], {"scorer_package": Path("nowhere")}),
    ],
)
def test_bad_input_is_refused(
    tmp_path: Path, build: Build, code: str, rows: list[ReleaseRow], changes: dict[str, Any]
) -> None:
    with pytest.raises(FatalError, match=code):
        build(tmp_path / "r", rows, **changes)
