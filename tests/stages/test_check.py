"""What would mislead a reader or block a release is listed."""

from __future__ import annotations

from problem_records import problem

from physelite_build.records import Document, Entries, Entry, Pair, PairDecision, Problem, Severity, SourceNotes
from physelite_build.stages.check import check_corpus

CC0 = SourceNotes(rights="CC0-1.0")


def codes(*problems: Problem, entries: tuple[Entry, ...] = (), notes: SourceNotes = CC0) -> set[str]:
    made = entries or tuple(Entry(key=p.key, en=p.key) for p in problems)
    found = check_corpus(
        Entries(entries=made),
        {p.key: p for p in problems},
        {p.doc_id: Document(doc_id=p.doc_id, notes=notes) for p in problems},
        least_confidence=0.5,
    )
    return {finding.code for finding in found.findings}


def test_a_sound_problem_has_no_finding() -> None:
    assert codes(problem("a#1", "Find $v$.")) == set()


def test_missing_text_and_missing_rights_block() -> None:
    found = check_corpus(
        Entries(entries=(Entry(key="a#1", en="a#1"),)),
        {"a#1": problem("a#1", " ")},
        {"a": Document(doc_id="a")},
        least_confidence=0.5,
    )
    blocking = {finding.code for finding in found.findings if finding.severity is Severity.BLOCK}
    assert blocking == {"statement.empty", "rights.missing"}


def test_weak_spots_are_warned_of() -> None:
    assert codes(problem("a#1", "Find $v$.", answer=None)) == {"answer.missing"}
    assert codes(problem("a#1", r"Find $\frac{a}{$.")) == {"latex.broken"}
    assert codes(problem("a#1", "See the circuit in Figure 2.")) == {"figure.missing"}
    assert codes(problem("a#1", "电路如图所示。", language="zh")) == {"figure.missing"}
    assert codes(problem("a#1", "Find it.", confidence=0.3)) == {"read.uncertain"}
    assert codes(problem("a#1", "Find it.", parts=("1", "1"))) == {"part.repeated", "answer.parts"}
    assert codes(problem("a#1", "Find them.", parts=("1", "2"))) == {"answer.parts"}


def test_a_table_that_is_needed_and_lost_blocks() -> None:
    assert codes(problem("a#1", "Use the data in the table.")) == {"table.missing"}
    assert codes(problem("a#1", "数据如下表所示。", language="zh")) == {"table.missing"}
    assert codes(problem("a#1", "A table of mass $m$ stands still.")) == set()


def test_a_linked_figure_is_not_missing() -> None:
    assert codes(problem("a#1", "See Figure 2.", figures=1)) == set()


def test_languages_that_disagree_are_warned_of() -> None:
    zh = problem("z#1", "求 3.0 s 后的速度。", language="zh", parts=("1",))
    en = problem("e#1", "Find the speed after 8.0 s.", parts=("1", "2"))
    entry = Entry(key="z#1", zh="z#1", en="e#1")
    assert codes(zh, en, entries=(entry,)) == {"languages.numbers", "languages.parts", "answer.parts"}


def test_an_undecided_pair_is_named() -> None:
    pair = Pair(left="a#1", right="b#1", decision=PairDecision.ASK, similarity=0.9, rule="numbers differ")
    found = check_corpus(Entries(entries=(), pairs=(pair,)), {}, {}, least_confidence=0.5).findings
    assert [f.code for f in found] == ["pair.undecided"]
    assert "b#1" in found[0].message
