"""What a build does again and what it does not, which failures stay with their item, and what threads may share."""

from __future__ import annotations

import errno
import shutil
import threading
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest
from builds import PlainBuilds
from fixed_text import FixedEngines, FixedTextEngine, blank_page, draw_page, write_document, write_picture, write_tiff

from physelite_build.config import Settings
from physelite_build.engines.protocol import Picture
from physelite_build.errors import FatalError, ItemError, RetryableError
from physelite_build.explain import explain
from physelite_build.export import page_records
from physelite_build.machine import KEEP_FIELD, BuildResult, Machine
from physelite_build.machine.engines import Once
from physelite_build.records import Correction, Document, Entry, Line, Outcome, Page, Status
from physelite_build.stages import order
from physelite_build.store import Store

PAGE_STAGES = {stage.name for stage in order.PAGE_STAGES}
LATER_STAGES = {stage.name for stage in (*order.DOCUMENT_STAGES, *order.CORPUS_STAGES)}


@pytest.fixture
def exam(tmp_path: Path) -> Path:
    return write_document(tmp_path / "scans" / "exam", [draw_page(0), draw_page(1)])


def fresh(result: BuildResult) -> set[tuple[str, str]]:
    return {(o.stage, o.item_id) for o in result.outcomes if not o.reused and o.status is not Status.SKIPPED}


def ends(result: BuildResult) -> dict[tuple[str, str], Outcome]:
    return {(o.stage, o.item_id): o for o in result.outcomes}


# ---------------------------------------------------------------- rerun
def test_a_first_build_finds_the_problem_of_every_page(plain: PlainBuilds, exam: Path):
    result = plain(exam)
    assert (result.status, result.documents, result.pages, result.problems) == ("complete", 1, 2, 2)


def test_rerun_of_an_unchanged_folder_does_nothing(plain: PlainBuilds, exam: Path):
    first = plain(exam)
    engines = FixedEngines()
    second = plain(exam, engines=engines)
    assert fresh(second) == set()
    assert engines.reader.calls == 0
    assert set(ends(second)) == set(ends(first))
    assert second.status == first.status


def test_a_changed_page_is_read_again_and_its_neighbours_are_not(plain: PlainBuilds, exam: Path):
    plain(exam)
    write_picture(exam / "2.png", draw_page(1, stain=True))
    redone = fresh(plain(exam))
    assert {item for stage, item in redone if stage in PAGE_STAGES} == {"exam/p2"}
    assert {item for stage, item in redone if stage == "ingest"} == {"exam/2.png"}
    assert {stage for stage, _ in redone} >= {"segment", "figures"}


def test_a_changed_frame_of_a_tiff_is_read_again_and_the_others_are_not(plain: PlainBuilds, tmp_path: Path):
    fax = tmp_path / "fax" / "exam.tif"
    fax.parent.mkdir()
    write_tiff(fax, [draw_page(k) for k in range(3)])
    plain(fax.parent)
    write_tiff(fax, [draw_page(0), draw_page(1, stain=True), draw_page(2)])
    redone = fresh(plain(fax.parent))
    assert {item for stage, item in redone if stage in PAGE_STAGES} == {"fax/p2"}


def test_a_renamed_folder_is_not_read_again(plain: PlainBuilds, exam: Path):
    plain(exam.parent)
    exam.rename(exam.parent / "renamed")
    redone = fresh(plain(exam.parent))
    assert {stage for stage, _ in redone} & (PAGE_STAGES | {"ingest"}) == set()
    assert ("segment", "renamed") in redone


def test_a_renamed_file_is_not_read_again(plain: PlainBuilds, exam: Path):
    plain(exam)
    (exam / "1.png").rename(exam / "first.png")
    assert {stage for stage, _ in fresh(plain(exam))} & (PAGE_STAGES | {"ingest"}) == set()


def test_a_removed_file_disappears_from_the_state(plain: PlainBuilds, exam: Path):
    plain(exam)
    (exam / "2.png").unlink()
    result = plain(exam)
    store = plain.store()
    assert (result.pages, result.problems) == (1, 1)
    assert set(store.all("page", Page)) == {"exam/p1"}
    assert not [o for o in store.outcomes() if "p2" in o.item_id or "2.png" in o.item_id]
    assert list(store.all("entry", Entry)) == ["exam#1"]


def test_a_removed_document_disappears_from_the_state(plain: PlainBuilds, exam: Path):
    write_document(exam.parent / "other", [draw_page(2)])
    plain(exam.parent)
    shutil.rmtree(exam)
    plain(exam.parent)
    assert set(plain.store().all("document", Document)) == {"other"}


def test_a_lost_blob_is_made_again(plain: PlainBuilds, exam: Path):
    plain(exam)
    shutil.rmtree(plain.work / "blobs")
    result = plain(exam)
    assert result.status == "complete"
    assert {stage for stage, _ in fresh(result)} == {"ingest", "straighten"}


def test_outcomes_of_a_batch_that_was_tried_again_count_as_done_by_this_build(plain: PlainBuilds, exam: Path):
    plain(exam, limit=1)
    with closing(plain.store()) as store:
        machine = Machine(store, Settings(), run_id="retried", engines=FixedEngines())
        first, second = machine.read(["exam/p2"]), machine.read(["exam/p2"])
    assert [o.reused for o in first] == [o.reused for o in second] == [False] * 4


# ---------------------------------------------------------------- copies and several roots
def test_the_same_bytes_twice_are_read_once(plain: PlainBuilds, exam: Path):
    shutil.copytree(exam, exam.parent / "exam copy")
    engines = FixedEngines()
    result = plain(exam.parent, engines=engines)
    store = plain.store()
    assert store.all("document", Document)["exam copy"].copy_of == "exam"
    assert not [o for o in result.outcomes if o.stage != "ingest" and o.item_id.startswith("exam copy")]
    assert (result.documents, result.pages, result.problems) == (2, 2, 2)


def test_export_lists_the_problems_of_a_copy_too(plain: PlainBuilds, exam: Path):
    shutil.copytree(exam, exam.parent / "exam copy")
    plain(exam.parent)
    records = {record["doc_id"]: record for record in page_records(plain.store())}
    assert records["exam copy"]["problems"] == records["exam"]["problems"] != []


def test_explain_finds_a_problem_of_a_copy(plain: PlainBuilds, exam: Path):
    shutil.copytree(exam, exam.parent / "exam copy")
    plain(exam.parent)
    assert explain(plain.store(), "exam copy#2")["key"] == "exam#2"


def test_a_build_of_another_root_keeps_the_documents_of_the_first(plain: PlainBuilds, exam: Path, tmp_path: Path):
    other = write_document(tmp_path / "more" / "other", [draw_page(2)])
    plain(exam)
    result = plain(other)
    assert set(plain.store().all("document", Document)) == {"exam", "other"}
    assert (result.pages, result.problems) == (3, 3)
    assert not [item for stage, item in fresh(result) if stage in PAGE_STAGES and item.startswith("exam/")]


def test_refused_files_of_another_root_keep_the_run_partial(plain: PlainBuilds, exam: Path, tmp_path: Path):
    (exam / "notes.docx").write_bytes(b"\x00\x01\x02")
    other = write_document(tmp_path / "more" / "other", [draw_page(2)])
    (other / "notes.docx").write_bytes(b"\x00\x01\x02\x03")
    assert plain(exam).status == "partial"
    result = plain(other)
    failed = {o.item_id for o in result.outcomes if o.status is Status.FAILED}
    assert failed == {"notes.docx", "other/notes.docx"}
    (exam / "notes.docx").unlink()
    assert {o.item_id for o in plain(exam).outcomes if o.status is Status.FAILED} == {"other/notes.docx"}


def test_documents_of_the_same_name_in_two_roots_get_different_ids(plain: PlainBuilds, exam: Path, tmp_path: Path):
    other = write_document(tmp_path / "more" / "exam", [draw_page(3)])
    plain(exam, other)
    first = set(plain.store().all("document", Document))
    plain(other)
    assert set(plain.store().all("document", Document)) == first == {"exam", "exam-2"}


def test_roots_that_overlap_are_read_once(plain: PlainBuilds, exam: Path):
    result = plain(exam.parent, exam, exam.parent)
    assert (result.documents, result.pages) == (1, 2)


def test_the_work_folder_is_never_read_as_scans(exam: Path):
    plain = PlainBuilds(exam.parent / "work")
    first = plain(exam.parent)
    second = plain(exam.parent)
    assert (first.status, second.status) == ("complete", "complete")
    assert second.documents == 1


def test_the_work_folder_itself_is_refused_as_scans(plain: PlainBuilds, exam: Path):
    plain(exam)
    with pytest.raises(FatalError, match=r"build\.own_folder"):
        plain(plain.work)


def test_an_empty_folder_gives_an_empty_corpus(plain: PlainBuilds, tmp_path: Path):
    (tmp_path / "empty").mkdir()
    result = plain(tmp_path / "empty")
    assert (result.status, result.documents, result.problems) == ("complete", 0, 0)


# ---------------------------------------------------------------- screening and limit
def test_a_rejected_page_can_be_kept_by_hand(plain: PlainBuilds, exam: Path):
    write_picture(exam / "3.png", blank_page())
    engines = FixedEngines()
    assert ends(plain(exam, engines=engines))["screen", "exam/p3"].status is Status.REJECTED
    store = plain.store()
    digest = store.all("page", Page)["exam/p3"].image_sha256
    store.correct(Correction(subject="exam/p3", field=KEEP_FIELD, value=digest, author="a", reason="b", at="c"))
    again = FixedEngines()
    result = ends(plain(exam, engines=again))
    assert result["screen", "exam/p3"].status is Status.DONE
    assert result["read", "exam/p3"].code == "page.no_text"
    assert result["read", "exam/p1"].reused


def test_a_page_that_stands_twice_is_put_aside_and_not_compared_again(
    plain: PlainBuilds, exam: Path, monkeypatch: pytest.MonkeyPatch
):
    write_picture(exam / "3.png", draw_page(0, stain=True))
    first = ends(plain(exam))["screen", "exam/p3"]
    monkeypatch.setattr("physelite_build.machine.pages.repeated", _must_not_be_called)
    second = ends(plain(exam))["screen", "exam/p3"]
    assert (first.code, second.code, second.reused) == ("page.repeated", "page.repeated", True)


def test_a_comparison_of_pages_that_crashes_is_seen_and_loses_no_page(
    plain: PlainBuilds, exam: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("physelite_build.machine.pages.repeated", _must_not_be_called)
    result = plain(exam)
    assert ends(result)["screen", "exam"].code == "screen.crash"
    assert (result.status, result.problems) == ("partial", 2)


def _must_not_be_called(*_: object) -> dict[str, str]:
    raise AssertionError("called")


def test_limit_reads_the_first_pages_and_counts_the_others_as_skipped(plain: PlainBuilds, exam: Path):
    result = plain(exam, limit=1)
    assert {o.item_id: o.code for o in result.outcomes if o.status is Status.SKIPPED} == {"exam/p2": "run.limit"}
    assert ("read", "exam/p2") not in ends(result)
    assert result.problems == 1
    assert plain(exam).problems == 2


# ---------------------------------------------------------------- failures
def test_a_stage_that_crashes_fails_one_item_and_its_neighbours_go_on(
    plain: PlainBuilds, exam: Path, monkeypatch: pytest.MonkeyPatch
):
    real = FixedTextEngine.read_lines

    def breaks(self: FixedTextEngine, picture: Picture) -> tuple[Line, ...]:
        lines = real(self, picture)
        if lines and lines[0].text == "Problem 1":
            raise KeyError("no such glyph")
        return lines

    monkeypatch.setattr(FixedTextEngine, "read_lines", breaks)
    result = plain(exam)
    failed = ends(result)["read", "exam/p1"]
    assert (failed.status, failed.code) == (Status.FAILED, "read.crash")
    assert "exam/p1" in (failed.message or "")
    assert (result.status, result.problems) == ("partial", 1)
    monkeypatch.undo()
    mended = plain(exam)
    assert (mended.status, mended.problems) == ("complete", 2)
    assert not ends(mended)["read", "exam/p1"].reused


def test_a_full_disk_stops_the_build_with_one_sentence(plain: PlainBuilds, exam: Path, monkeypatch: pytest.MonkeyPatch):
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("physelite_build.blobs.tempfile.mkstemp", full)
    with pytest.raises(FatalError, match=r"store\.disk_full"):
        plain(exam)


def test_an_engine_that_asks_for_another_try_leaves_nothing_behind(
    plain: PlainBuilds, exam: Path, monkeypatch: pytest.MonkeyPatch
):
    def busy(self: FixedTextEngine, picture: Picture) -> tuple[Line, ...]:
        raise RetryableError("read.busy", "the engine is busy")

    with monkeypatch.context() as patched:
        patched.setattr(FixedTextEngine, "read_lines", busy)
        with pytest.raises(RetryableError):
            plain(exam)
    assert plain.store().outcomes(stage="read") == []
    assert plain(exam).status == "complete"


def test_a_file_that_failed_under_another_name_is_told_by_its_own(plain: PlainBuilds, exam: Path):
    bad = exam / "3.png"
    bad.write_bytes((exam / "1.png").read_bytes()[:200])
    plain(exam)
    bad.rename(exam / "30.png")
    failed = ends(plain(exam))["ingest", "exam/30.png"]
    assert failed.status is Status.FAILED
    assert "page 1 of 30.png is damaged" in (failed.message or "")


def test_a_file_that_vanishes_during_the_build_is_one_failed_item(
    plain: PlainBuilds, exam: Path, monkeypatch: pytest.MonkeyPatch
):
    from physelite_build.stages.discover.listing import ScanFile

    real = ScanFile.read

    def gone(self: ScanFile, options: object) -> bytes:
        if self.name == "1.png":
            raise ItemError("source.unreadable", "1.png cannot be read (No such file or directory)")
        return real(self, options)  # type: ignore[arg-type]

    monkeypatch.setattr(ScanFile, "read", gone)
    result = plain(exam)
    assert ends(result)["ingest", "exam/1.png"].code == "source.unreadable"
    assert set(plain.store().all("page", Page)) == {"exam/p2"}  # the other page keeps its number


# ---------------------------------------------------------------- threads
def test_an_engine_is_made_once_when_many_threads_ask_together():
    made: Counter[str] = Counter()
    gate = threading.Barrier(8)

    def make() -> str:
        made["engine"] += 1
        threading.Event().wait(0.05)
        return "engine"

    engine = Once(make)

    def ask() -> None:
        gate.wait()
        assert engine() == "engine"

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made["engine"] == 1


def test_two_batches_share_one_engine(plain: PlainBuilds, exam: Path):
    store = Store(plain.work)
    engines = FixedEngines()
    made: Counter[str] = Counter()

    def make() -> FixedTextEngine:
        made["text"] += 1
        return engines.reader

    engines.text = Once(make)
    plain(exam, limit=1)
    machine = Machine(store, Settings(), run_id="threads", engines=engines)
    pages = list(store.all("page", Page))
    ends_by_thread: list[list[Outcome]] = []
    threads = [threading.Thread(target=lambda p=p: ends_by_thread.append(machine.read([p]))) for p in pages]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    store.close()
    assert made["text"] == 1
    assert {o.status for ended in ends_by_thread for o in ended} == {Status.DONE}


def test_a_stopped_machine_begins_no_further_item(plain: PlainBuilds, exam: Path):
    plain(exam, limit=1)
    store = plain.store()
    machine = Machine(store, Settings(), run_id="x", engines=FixedEngines())
    machine.stop()
    with pytest.raises(FatalError, match=r"run\.stopped"):
        machine.read(["exam/p2"])
    store.close()
