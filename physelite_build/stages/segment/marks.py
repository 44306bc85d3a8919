"""Marks at the start of a row: part labels, step marks, and the words that open a solution or a final answer.

Neighbour of ``headings.py``, which reads problem headings; like there, one row is looked at and OCR mistakes are tolerated.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from physelite_build.stages.segment.headings import CHINESE_NUMBER, PRINTED_NUMBER, read_number

__all__ = ["Mark", "Marker", "find_answer_marker", "find_mark", "find_solution_marker"]


@dataclass(frozen=True, slots=True)
class Mark:
    """A part label or step mark at the start of a row."""

    family: str
    """Marks of one list have one family: ``(1)``, ``1)``, ``①``, ``(a)``, ``A.``, ``step``, ``A.1``, ..."""
    label: str
    """Without brackets: ``1``, ``a``, ``2.1``."""
    order: tuple[int, ...]
    end: int
    """Position in the row after the mark and blanks."""


@dataclass(frozen=True, slots=True)
class Marker:
    """A word that opens a solution or a final answer."""

    rest: str
    """What follows it on the same row."""
    alone: bool
    """The row holds nothing else."""
    formal: bool
    """It is bracketed or ends with a colon, so it cannot be ordinary text."""


# ---------------------------------------------------------------- parts and steps
_BRACKETED = "⑴⑵⑶⑷⑸⑹⑺⑻⑼⑽"
_CIRCLED = "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳"
_MARKS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("①", re.compile(rf"^(?P<n>[{_CIRCLED}])\s*")),
    ("(1)", re.compile(rf"^(?P<n>[{_BRACKETED}])\s*")),
    ("step", re.compile(r"^St[e3]p\s*(?P<n>\d{1,2}|[lI])\s*[.:：)]?\s*", re.IGNORECASE)),
    ("step", re.compile(rf"^(?:步骤|第)\s*(?P<n>{PRINTED_NUMBER}|{CHINESE_NUMBER})\s*步?\s*[:：、，,.]\s*")),
    ("(1)", re.compile(rf"^[（(]\s*(?P<n>{PRINTED_NUMBER})\s*[)）]\s*[.．、:：]?\s*")),
    ("(1.1)", re.compile(r"^[（(]\s*(?P<n>\d{1,2}[.\-]\d{1,2})\s*[)）]\s*")),
    ("(a)", re.compile(r"^[（(]\s*(?P<n>[a-h])\s*[)）]\s*")),
    ("(i)", re.compile(r"^[（(]\s*(?P<n>i{1,3}|iv|vi{0,3}|ix|x)\s*[)）]\s*")),
    ("A.1", re.compile(r"^[.]?(?P<n>[A-H][.]\d{1,2}(?:[.]\d{1,2})?)\s*[.:：)]?\s*")),
    ("A.", re.compile(r"^[（(]?\s*(?P<n>[A-H])\s*(?:[.．、](?!\d)|[)）])\s*")),
    ("i.", re.compile(r"^(?P<n>i{1,3}|iv|vi{0,3}|ix|x)\s*[.)）]\s*(?=[（(A-Z])")),
    ("1.1", re.compile(r"^(?P<n>\d{1,2}[.]\d{1,2})[.:]?\s+(?=[A-Z“\"\u4e00-\u9fff][a-z\u4e00-\u9fff])")),
    ("a)", re.compile(r"^(?P<n>[a-h])\s*(?:[)）]|[.](?=\s))\s*")),
    ("1)", re.compile(r"^(?P<n>\d{1,2}|l)\s*[)）]\s*")),
    ("1.", re.compile(r"^(?P<n>\d{1,2}|l)\s*(?:[、．]|[.](?!\d))\s*")),
    (
        "part",
        re.compile(
            rf"^(?:Part|问题?|第(?=[\d一二三四五六七八九十]{{1,2}}\s*(?:小题|问)))\s*(?P<n>\d{{1,2}}|[A-H](?![a-z])|{CHINESE_NUMBER})(?:小题|问)?\s*[.:：)]?\s*"
        ),
    ),
)
_SMALL_ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x")


def find_mark(text: str) -> Mark | None:
    """Read a part label or a step mark at the start of a row.

    Args:
        text: One row, plain text with ``$...$``.

    Returns:
        The mark, or None. A row that is nothing but ``(3)`` gives a mark; whether it numbers an equation is not known here.
    """
    for family, pattern in _MARKS:
        match = pattern.match(text)
        if match:
            return _mark(family, match)
    return None


def _mark(family: str, match: re.Match[str]) -> Mark | None:
    printed = match["n"]
    if printed in _BRACKETED:
        return Mark(family, str(_BRACKETED.index(printed) + 1), (_BRACKETED.index(printed) + 1,), match.end())
    if family == "①":
        order: tuple[int, ...] = (_CIRCLED.index(printed) + 1,)
        return Mark(family, str(order[0]), order, match.end())
    if family in ("(i)", "i."):
        return Mark(family, printed, (_SMALL_ROMAN.index(printed) + 1,), match.end())
    if family in ("(a)", "a)"):
        return Mark(family, printed, (ord(printed) - ord("a") + 1,), match.end())
    pieces = tuple(n for n in (read_number(p) for p in re.split(r"[.\-]", printed)) if n is not None)
    if not pieces or (family != "A.1" and pieces[0] > MARK_LIMIT):
        return None
    label = printed.replace("-", ".") if re.search(r"[A-Z.\-]", printed.strip("lI|")) else str(pieces[0])
    return Mark(family, label, pieces, match.end())


MARK_LIMIT = 30
"""No list of parts or steps in the collected papers is longer; a larger number is a quantity in brackets."""


# ---------------------------------------------------------------- solutions and answers
_SOLUTION = re.compile(
    r"^(?:[【\[〖]\s*(?P<b>参考解答|参考答案|解\s*答|解\s*析|分\s*析|详解|解|证明|思路点拨|solution)\s*[】\]〗]\s*[:：]?"
    r"|(?P<c>参考解答|参考答案|解答过程|解\s*答|解\s*析|详解|证明|分析|解|proof|so[l1]uti[o0]n|sol)\s*[:：]"
    r"|(?P<s>so[l1]uti[o0]n|sol(?=[.]))\s*(?:\d{1,2}\b)?\s*[.]?(?=\s+(?-i:[A-Z(\[$\d])|\s*$)"
    r"|(?P<w>解法|方法|证法)(?=\s*[一二三123])"
    r"|(?P<d>解)(?=\s*[（(①]|\s+\S)"
    r"|(?P<a>参考解答|参考答案|解\s*答|解\s*析|详解|解)\s*$)\s*",
    re.IGNORECASE,
)
_ANSWER = re.compile(
    r"^(?:[【\[]\s*(?:最终|参考)?\s*(?P<b>答\s*案|answer)\s*[】\]]\s*[:：]?"
    r"|(?:最终|参考|正确)?(?P<c>答\s*案|答)\s*(?:[:：]|为[:：]?|(?=\s*[A-E]+\s*$))"
    r"|(?:final\s+|correct\s+)?(?P<e>answers?|ans)\s*(?:[.]?\s*[:：]|[.](?=\s)|(?=\s+\(?[A-E]\)?\s*$)))\s*",
    re.IGNORECASE,
)


def find_solution_marker(text: str) -> Marker | None:
    """Read ``解：``, ``【解答】``, ``Solution`` and the like at the start of a row; None if there is none."""
    match = _SOLUTION.match(text.strip())
    if not match:
        return None
    rest = text.strip()[match.end() :].strip()
    return Marker(rest, alone=not rest, formal=bool(match["b"] or match["c"]))


def find_answer_marker(text: str) -> Marker | None:
    """Read ``答案：``, ``Answer:``, ``Ans.`` and the like at the start of a row; None if there is none."""
    match = _ANSWER.match(text.strip())
    if not match:
        return None
    rest = text.strip()[match.end() :].strip()
    return Marker(rest, alone=not rest, formal=bool(match["b"] or match["c"]))
