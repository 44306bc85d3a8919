from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from release_rows import bilingual_row, english_row

from physelite_build.errors import ItemError
from physelite_build.publish import ReleaseMeta, ScorerRun, build_release, run_scorer, verify_release
from physelite_build.publish.manifest import MANIFEST, files_of, read_manifest
from physelite_build.publish.schema import RowAnswer
from physelite_build.publish.verify import check_files
from physelite_build.records import AnswerKind

GOOD_RUN = ScorerRun(0, "")


@pytest.fixture(scope="module")
def original(
    tmp_path_factory: pytest.TempPathFactory, meta: ReleaseMeta, images: Callable[[str], bytes], scorer_package: Path
) -> Path:
    out = tmp_path_factory.mktemp("releases") / "0.1.0"
    rows = [bilingual_row(), english_row(2)]
    return build_release(
        out, version="0.1.0", rows=rows, images=images, meta=meta, scorer_package=scorer_package
    ).folder


@pytest.fixture
def release(tmp_path: Path, original: Path) -> Path:
    return Path(shutil.copytree(original, tmp_path / "0.1.0"))


def relist(folder: Path) -> None:
    """Bring the manifest up to date, as someone who tampers would."""
    changed = read_manifest(folder).model_copy(update={"files": files_of(folder)})
    (folder / MANIFEST).write_text(changed.to_json(), encoding="utf-8")


def codes(folder: Path) -> set[str]:
    return {finding.code for finding in check_files(folder)}


def all_codes(folder: Path) -> set[str]:
    return {finding.code for finding in verify_release(folder, scorer_run=GOOD_RUN)}


def test_fresh_release_is_good_and_stays_unchanged(release: Path) -> None:
    assert verify_release(release) == []
    assert not list(release.rglob("__pycache__"))


def test_scorer_table_is_reported(release: Path) -> None:
    assert run_scorer(release) == ScorerRun(0, "1 of 1 answers equal themselves")


def test_changed_file_is_found(release: Path) -> None:
    (release / "LICENSE").write_text("changed")
    assert codes(release) == {"release.file_changed"}


def test_missing_file_is_found(release: Path) -> None:
    (release / "answers.jsonl").unlink()
    assert codes(release) == {"release.file_missing"}


def test_python_file_in_the_root_is_found(release: Path) -> None:
    (release / "physelite.py").write_text("")
    assert codes(release) == {"release.file_extra", "release.script_in_root"}


@pytest.mark.parametrize("path", ["/home/anna/scans", "/Users/anna", r"C:\Users\anna"])
def test_path_of_a_machine_is_found(release: Path, path: str) -> None:
    with (release / "CHANGELOG.md").open("a") as stream:
        stream.write(f"made from {path}\n")
    relist(release)
    assert codes(release) == {"release.machine_path"}


def test_path_of_a_machine_inside_the_data_is_found(
    tmp_path: Path, meta: ReleaseMeta, images: Callable[[str], bytes], scorer_package: Path
) -> None:
    row = english_row(2, engines=("engine at /home/anna/models",))
    built = build_release(
        tmp_path / "r", version="0.1.0", rows=[row], images=images, meta=meta, scorer_package=scorer_package
    )
    assert codes(built.folder) == {"release.machine_path"}


def test_truncated_data_file_is_found(release: Path) -> None:
    path = next(release.glob("data/en/test-*"))
    path.write_bytes(path.read_bytes()[:-200])
    relist(release)
    assert all_codes(release) == {"release.does_not_load"}


def test_picture_that_does_not_decode_is_found(tmp_path: Path, meta: ReleaseMeta, scorer_package: Path) -> None:
    made = build_release(
        tmp_path / "r",
        version="0.1.0",
        rows=[bilingual_row()],
        images=lambda _: b"no picture",
        meta=meta,
        scorer_package=scorer_package,
    )
    assert all_codes(made.folder) == {"release.bad_image"}


def test_failed_selfcheck_is_found(
    tmp_path: Path, meta: ReleaseMeta, images: Callable[[str], bytes], scorer_package: Path
) -> None:
    row = english_row(2, answers=(RowAnswer(kind=AnswerKind.TEXT, answer="unequal"),))
    made = build_release(
        tmp_path / "r", version="0.1.0", rows=[row], images=images, meta=meta, scorer_package=scorer_package
    )
    findings = verify_release(made.folder)
    assert [(finding.code, "exit code 4" in finding.message) for finding in findings] == [
        ("release.selfcheck_failed", True)
    ]


def test_folder_without_manifest_is_no_release(tmp_path: Path) -> None:
    with pytest.raises(ItemError, match=r"release\.no_manifest"):
        verify_release(tmp_path)
