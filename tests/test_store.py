"""The store remembers, forgets on purpose, survives neighbours, and says in words what is wrong with its file."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from builds import REPOSITORY
from hypothesis import given, settings
from hypothesis import strategies as st

from physelite_build.database import SCHEMA_VERSION, Database
from physelite_build.errors import FatalError, ItemError, RetryableError
from physelite_build.folder import is_building, one_builder
from physelite_build.records import Correction, Document, Outcome, Page, Pairs, ScreenVerdict, Status
from physelite_build.store import Aside, PublicId, Stage, Store, document_of

STAGE = Stage("screen", 1)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(Store(tmp_path / "work")) as opened:
        yield opened


def verdict() -> ScreenVerdict:
    return ScreenVerdict(keep=True, ink=0.25)


def run(store: Store, item: str = "a/p1", *, inputs: tuple[str, ...] = ("x",), run_id: str = "1", work=verdict, **more):
    return store.run(STAGE, item, run_id=run_id, inputs=inputs, work=work, **more)


def never() -> ScreenVerdict:
    raise AssertionError("done again")


# ---------------------------------------------------------------- memory
def test_a_result_is_remembered_under_any_item(store: Store):
    first = run(store)
    second = run(store, "b/p9", work=never)
    assert (first.outcome.reused, second.outcome.reused) == (False, True)
    assert second.load(ScreenVerdict) == verdict()


@pytest.mark.parametrize("change", [{"inputs": ("y",)}, {"options": "o"}, {"engine": "e"}])
def test_everything_that_can_change_a_result_is_in_its_key(store: Store, change: dict[str, object]):
    run(store)
    assert not run(store, run_id="2", **change).outcome.reused


def test_a_new_version_of_a_stage_does_the_work_again(store: Store):
    run(store)
    again = store.run(Stage("screen", 2), "a/p1", run_id="2", inputs=["x"], work=verdict)
    assert not again.outcome.reused


def test_a_failed_item_is_remembered_until_it_is_asked_for_again(store: Store):
    def fail() -> ScreenVerdict:
        raise ItemError("page.bad", "a/p1 is bad")

    assert run(store, work=fail).outcome.code == "page.bad"
    assert run(store, run_id="2", work=never).outcome.status is Status.FAILED
    assert store.forget_failures() == 1
    assert run(store, run_id="3").outcome.status is Status.DONE


def test_a_crash_and_an_invalid_record_are_tried_again_by_the_next_build(store: Store):
    def crash() -> ScreenVerdict:
        raise KeyError("x")

    def invalid() -> ScreenVerdict:
        return ScreenVerdict(keep=True, ink=7)

    for work, code in ((crash, "screen.crash"), (invalid, "screen.invalid_record")):
        assert run(store, work=work).outcome.code == code
    assert run(store).outcome.status is Status.DONE


def test_an_aside_keeps_its_reason_and_its_record(store: Store):
    ended = run(store, work=lambda: Aside(Status.REJECTED, "page.blank", "no ink", verdict()))
    assert (ended.outcome.status, ended.outcome.code) == (Status.REJECTED, "page.blank")
    assert store.load("screen", "a/p1", ScreenVerdict) == verdict()


@pytest.mark.parametrize("error", [FatalError("x.y", "stop"), RetryableError("x.y", "later"), KeyboardInterrupt()])
def test_errors_that_are_not_of_the_item_leave_nothing_behind(store: Store, error: BaseException):
    def fail() -> ScreenVerdict:
        raise error

    with pytest.raises(type(error)):
        run(store, work=fail)
    assert store.outcomes() == []


def test_a_result_without_output_cannot_be_loaded(store: Store):
    ended = run(store, work=lambda: Aside(Status.EMPTY, "page.empty", "nothing"))
    with pytest.raises(ItemError, match=r"store\.no_result"):
        ended.load(ScreenVerdict)


def test_work_is_done_again_if_a_blob_of_its_result_is_gone(store: Store):
    digest = store.blobs.put(b"picture")
    run(store, blobs_of=lambda _: [digest], work=verdict)
    assert run(store, run_id="2", blobs_of=lambda _: [digest], work=never).outcome.reused
    store.blobs.path(digest).unlink()
    assert not run(store, run_id="3", blobs_of=lambda _: [digest]).outcome.reused


def test_recall_remembers_and_leaves_no_outcome(store: Store):
    made = store.recall(STAGE, "a", inputs=["x"], work=lambda: Pairs(pairs=()))
    again = store.recall(STAGE, "b", inputs=["x"], work=never)
    assert made.output == again.output
    assert store.outcomes() == []


# ---------------------------------------------------------------- state
def test_reset_keeps_other_documents_their_pages_and_how_their_files_ended(store: Store):
    documents = {name: Document(doc_id=name, page_ids=(f"{name}/p1",)) for name in ("a", "a/b")}
    pages = {document.page_ids[0]: _page(document.page_ids[0]) for document in documents.values()}
    store.put("document", documents)
    store.put("page", pages)
    for item in ("a/1.png", "a/b/1.png", "lost.pdf", "old.pdf"):
        store.run(Stage("ingest", 1), item, run_id="1", inputs=[item], work=verdict)
    run(store, "a/b/p1")
    store.reset_state(keep_documents={"a/b": documents["a/b"]}, keep_files={"lost.pdf"})
    assert set(store.all("document", Document)) == {"a/b"}
    assert set(store.all("page", Page)) == {"a/b/p1"}
    assert [o.item_id for o in store.outcomes()] == ["a/b/1.png", "lost.pdf"]


def _page(page_id: str) -> Page:
    return Page(
        page_id=page_id,
        doc_id=page_id.rpartition("/")[0],
        number=1,
        source_sha256="s",
        source_frame=1,
        image_sha256="i",
        width_px=1,
        height_px=1,
    )


@pytest.mark.parametrize(
    ("stage", "item", "document"),
    [
        ("ingest", "above/name/1 2.png page 3", "above/name"),
        ("read", "name/p1", "name"),
        ("answers", "above/name", "above/name"),
        ("dedup", "above/name#3.2", "above/name"),
        ("align", "corpus", "corpus"),
    ],
)
def test_every_item_tells_its_document(stage: str, item: str, document: str):
    assert document_of(stage, item) == document


def test_records_come_back_in_the_order_in_which_they_were_stored(store: Store):
    store.put("document", {name: Document(doc_id=name) for name in ("z", "a", "m")})
    assert list(store.all("document", Document)) == ["z", "a", "m"]


def test_a_transaction_that_fails_changes_nothing(store: Store):
    def half() -> None:
        with store.transaction():
            store.put("document", {"a": Document(doc_id="a")})
            raise RuntimeError

    with pytest.raises(RuntimeError):
        half()
    assert store.all("document", Document) == {}


def test_corrections_are_kept_in_order(store: Store):
    for value in ("1", "2"):
        store.correct(Correction(subject="a", field="f", value=value, author="x", reason="r", at="t"))
    assert [c.value for c in store.corrections(subject="a", field="f")] == ["1", "2"]
    assert store.corrections(subject="b") == []


# ---------------------------------------------------------------- public ids
def values(ids: list[PublicId]) -> list[str]:
    return [public.value for public in ids]


def test_a_public_id_remembers_the_release_that_it_was_added_in(store: Store):
    store.mint_public_ids([["a#1"]], version="1.0.0")
    later = store.mint_public_ids([["a#1"], ["b#1"]], version="1.1.0")
    assert [public.version_added for public in later] == ["1.0.0", "1.1.0"]


def test_a_public_id_stays_with_its_problem_for_ever(store: Store):
    assert values(store.mint_public_ids([["b#1"], ["a#1", "b#9"]], version="1.0.0")) == ["PE-000001", "PE-000002"]
    assert values(store.mint_public_ids([["c#1"], ["a#1"], ["b#1"]], version="1.0.0")) == [
        "PE-000003",
        "PE-000002",
        "PE-000001",
    ]
    assert store.key_of_public_id("PE-000002") == "a#1"
    assert store.public_id_of("b#1") == "PE-000001"


def test_no_public_id_is_given_while_the_last_build_is_unfinished(store: Store):
    store.start_run("1", started_at="2026-01-01T00:00:00Z", config="{}")
    with pytest.raises(FatalError, match=r"store\.unfinished"):
        store.mint_public_ids([["a#1"]], version="1.0.0")
    store.end_run("1", status="partial")
    assert values(store.mint_public_ids([["a#1"]], version="1.0.0")) == ["PE-000001"]


@settings(max_examples=25, deadline=None)
@given(rounds=st.lists(st.lists(st.integers(0, 9), unique=True, max_size=6), max_size=5))
def test_public_ids_are_never_reused(tmp_path_factory: pytest.TempPathFactory, rounds: list[list[int]]):
    with closing(Store(tmp_path_factory.mktemp("ids") / "work")) as store:
        first: dict[int, str] = {}
        for keys in rounds:
            ids = values(store.mint_public_ids([[f"a#{key}"] for key in keys], version="1.0.0"))
            assert len(set(ids)) == len(ids)
            for key, public_id in zip(keys, ids, strict=True):
                assert first.setdefault(key, public_id) == public_id
        assert len(set(first.values())) == len(first)


# ---------------------------------------------------------------- threads and processes
def test_two_threads_write_without_losing_anything(store: Store):
    def work(name: str) -> None:
        for number in range(100):
            run(store, f"{name}/p{number}", inputs=(name, str(number)))

    threads = [threading.Thread(target=work, args=(name,)) for name in ("a", "b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(store.outcomes()) == 200


def test_two_connections_write_in_turn(store: Store):
    with closing(Store(store.root)) as other:
        run(store)
        run(other, "b/p1", work=never)
        assert len(store.outcomes()) == len(other.outcomes()) == 2


def test_a_second_builder_is_refused_and_a_reader_is_not(store: Store):
    with store.one_builder():
        assert is_building(store.root)
        with pytest.raises(FatalError, match=r"store\.busy"), one_builder(store.root):
            pass
        with pytest.raises(FatalError, match=r"store\.busy"):
            store.forget_failures()
        with closing(Store(store.root, create=False)) as reader:
            assert reader.outcomes() == []
    assert not is_building(store.root)


def test_a_builder_that_was_killed_is_not_in_the_way(store: Store):
    script = (
        "import os, sys, pathlib; from physelite_build.folder import one_builder\n"
        "with one_builder(pathlib.Path(sys.argv[1])): os.kill(os.getpid(), 9)"
    )
    killed = subprocess.run([sys.executable, "-c", script, str(store.root)], cwd=REPOSITORY, check=False)
    assert killed.returncode == -9
    with store.one_builder():
        pass


def test_half_written_blobs_of_a_killed_build_are_swept(store: Store):
    whole = store.blobs.path(store.blobs.put(b"whole"))
    half = whole.parent / ".tmp-half"
    half.write_bytes(b"ha")
    with store.one_builder():
        assert not half.exists()
    assert whole.read_bytes() == b"whole"


# ---------------------------------------------------------------- the file
def test_a_missing_folder_is_not_made_by_looking(tmp_path: Path):
    with pytest.raises(FatalError, match=r"store\.missing"):
        Store(tmp_path / "work", create=False)
    assert not (tmp_path / "work").exists()


def test_a_folder_with_other_files_is_not_taken(tmp_path: Path):
    (tmp_path / "thesis.doc").write_text("years of work")
    with pytest.raises(FatalError, match=r"store\.foreign.*thesis\.doc"):
        Store(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.doc"]


def test_a_file_is_not_taken_for_a_folder(tmp_path: Path):
    (tmp_path / "work").write_text("")
    with pytest.raises(FatalError, match=r"store\.foreign"):
        Store(tmp_path / "work")


def test_an_empty_folder_and_a_half_made_one_are_taken(tmp_path: Path):
    (tmp_path / "store.sqlite").touch()  # killed between opening the file and writing the schema
    with closing(Store(tmp_path)) as store:
        assert store.outcomes() == []


def test_a_folder_of_a_newer_version_is_left_alone(store: Store):
    store.close()
    with closing(sqlite3.connect(store.root / "store.sqlite")) as db:
        db.execute(f"PRAGMA user_version={SCHEMA_VERSION + 1}")
    with pytest.raises(FatalError, match=r"store\.schema"):
        Store(store.root)


def test_a_damaged_file_is_named(tmp_path: Path):
    (tmp_path / "store.sqlite").write_bytes(b"no database at all" * 100)
    with pytest.raises(FatalError, match=r"store\.damaged"):
        Store(tmp_path, create=False)


def test_a_lock_of_another_process_is_worth_another_try(store: Store, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("physelite_build.database._BUSY_S", 0.05)
    with (
        closing(Database(store.root)) as other,
        store.transaction(),
        pytest.raises(RetryableError, match=r"store\.locked"),
        other.transaction(),
    ):
        pass


def test_a_full_disk_is_named_and_the_store_opens_again(store: Store):
    with store.transaction() as db:
        db.execute(f"PRAGMA max_page_count={db.execute('PRAGMA page_count').fetchone()[0]}")
    big = {str(k): Document(doc_id="x" * 10_000) for k in range(50)}
    with pytest.raises(FatalError, match=r"store\.disk_full"):
        store.put("document", big)
    store.close()
    with closing(Store(store.root)) as again:
        assert again.all("document", Document) == {}


def test_a_copied_folder_is_the_same_store(store: Store, tmp_path: Path):
    run(store)
    store.close()
    shutil.copytree(store.root, tmp_path / "copy")
    with closing(Store(tmp_path / "copy", create=False)) as copy:
        assert [type(o) for o in copy.outcomes()] == [Outcome]
