"""Turns printed final answers into typed ones: which part, which name, which value, which unit, what kind.

Runs after ``segment``. The printed form is kept and is what the scorer reads; the typed fields are for search, checks and
annotators. What is not marked as an answer on the page is never guessed from the solution.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from physelite_build.records import Answer, AnswerKind, DocumentProblems, Part, Problem
from physelite_build.stages.segment import find_answer_marker, find_mark

__all__ = ["read_answers", "type_answers"]

_RELATION = re.compile(
    r"\\(?:approx|simeq|cong|propto|equiv|leq?|geq?|leqslant|geqslant|ll|gg|in|neq?)(?![A-Za-z])|[=≈≃≤≥<>∈≠∝]"
)
_EQUALS = re.compile(r"\\(?:approx|simeq|cong|equiv)(?![A-Za-z])|[=≈≃]")
_BOUND = re.compile(r"\\(?:leq?|geq?|leqslant|geqslant|ll|gg|in)(?![A-Za-z])|[≤≥<>∈]")
_INTERVAL = re.compile(r"^(?:\\left)?\s*[\[(（]\s*[^,，()\[\]]+[,，][^,，]+?(?:\\right)?\s*[\])）]$")
_CHOICE = re.compile(r"^(?:故?选[:：]?\s*)?[（(]?[A-H][)）]?(?:(?:\s|,|，|、|;|；|and|or|和|或|&)*[（(]?[A-H][)）]?)*$")
_TRUE = {"正确", "对", "√", "是", "true", "yes", "t"}
_FALSE = {"错误", "错", "×", "否", "false", "no", "f"}
_HAN = re.compile(r"[\u4e00-\u9fff]")
_DIRECTION = re.compile(
    r"^(?:方向|沿|垂直|竖直|水平|向|指向|direct\w*|along|towards?|upwards?|downwards?|to the (?:left|right)|in the|pointing)",
    re.IGNORECASE,
)
_NUMBER = (
    r"[+\-−±]?\s*(?:\d+(?:[.,]\d+)?|\.\d+|\\[dt]?frac\s*(?:\{\d+\}\{\d+\}|\d\s*\d))"
    r"(?:\s*(?:\\pm|±)\s*\d+(?:\.\d+)?)?"
    r"(?:\s*(?:\\times|×|\\cdot|·)\s*10\s*(?:\^\s*(?:\{\s*[+\-−]?\s*\d+\s*\}|[+\-−]?\d+)|[⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺]+|[−\-]?\d+)?)?"
)
_UNIT_WORD = r"(?:[YZEPTGMkhdcmμunpfa]|\\mu\s*|µ)?(?:m|g|s|A|K|mol|cd|N|J|W|Pa|V|C|F|H|T|Wb|S|Hz|eV|rad|sr|L|l|h|min|d|yr|ly|pc|AU|bar|atm|mmHg|Ω|Ω|\\Omega|lm|lx|Bq|Gy|Sv|u|D|cal|kg)"
_PLAIN_UNIT = rf"(?:{_UNIT_WORD}(?:\^?\{{?[-−]?\d\}}?|[⁻²³⁴¹]+)?)(?:\s*(?:[/·⋅*]|\\cdot|\\,|\s)\s*(?:{_UNIT_WORD}(?:\^?\{{?[-−]?\d\}}?|[⁻²³⁴¹]+)?|\())*\)?"
_HAN_UNIT = r"(?:千|毫|微|兆|厘|分|纳)?(?:米|克|秒|安|伏|瓦|焦耳?|牛顿?|库仑?|法拉?|亨|特斯拉|赫兹?|帕|欧姆?|度|摄氏度|开|摩尔|小时|分钟|年|天|倍|个|次|圈)(?:每\w+|/\w+)?"
_LATEX_UNIT = (
    r"\\(?:mathrm|text|rm|mathsf|operatorname|textrm)\s*\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}(?:\s*\^\s*(?:\{[^{}]*\}|\d))?"
)
_UNIT = re.compile(
    rf"^(?:(?:\\[,;:! ]|~|\s|\\cdot|·)*(?:{_LATEX_UNIT}|/|\\Omega|\\mu))+$|^\s*(?:{_PLAIN_UNIT}|{_HAN_UNIT})\s*$"
    r"|^(?:\\[,;:! ]|~|\s)*(?:\^\s*\{?\s*\\circ\s*\}?(?:\s*(?:\\mathrm|\\text)?\s*\{?\s*[CF]\s*\}?)?|°[CF]?|℃|\\%|%|\\degree|\\AA|Å|\\si\{.*\})$"
)
_TAIL_UNIT = re.compile(
    rf"^(?P<value>.*?[\w)}}\]])(?P<unit>(?:\\[,;:! ]|~)+\s*{_LATEX_UNIT}(?:(?:\s|\\cdot|\\[,;:! ]|/|·)*{_LATEX_UNIT})*)$",
    re.DOTALL,
)
_NAME = re.compile(
    r"^(?:\\(?:Delta|delta|d?frac|left|right|bar|vec|overline|dot|ddot|hat|tilde|mathbf|mathrm|text|boldsymbol|lvert|rvert|max|min|prime|ast|star|perp|parallel|infty|circ|\|)"
    r"|\\[A-Za-z]+|[A-Za-zΑ-ωΔ∞∆\u4e00-\u9fff]|[\d_^{}'*|/()（）\s,!]|\\[,;!])+$"
)
_PURE_NUMBER = re.compile(rf"^(?:{_NUMBER}|\\sqrt\s*(?:\{{[\d.]+\}}|\d)|\\pi|π|[\s()/*+\-]|\\cdot|\\times|\\[,;!])+$")
_CHOSEN = re.compile(r"(?:故|应|因此|所以)?选[:：]?\s*[（(]?\s*([A-H](?:[\s、,，]*[A-H])*)(?![A-Za-z])")
_AND = re.compile(r"(?<=\$)\s*(?:and|和|与|及|以及|[.。．])\s*(?=\$[^$]*(?:=|\\approx|≈)[^$]*\$)")
"""Between two named values; ``$a$ and $b$`` without a relation is left whole."""
_LABEL = re.compile(
    r"(?<![A-Za-z\d$\\}])(?:[（(]\s*(?P<p>\d{1,2}|[a-h]|i{1,3}|iv|v)\s*[)）]|(?P<c>[①②③④⑤⑥⑦⑧⑨])|(?P<b>[a-h])\)(?=\s))"
)


@dataclass(frozen=True, slots=True)
class _Item:
    part: str | None
    text: str


def type_answers(problems: DocumentProblems) -> DocumentProblems:
    """Add typed answers to all problems of a document.

    Args:
        problems: Problems as ``segment`` made them.

    Returns:
        The same problems; ``answers`` stays empty where the page marks no answer.
    """
    done = tuple(
        p.model_copy(update={"answers": read_answers(_printed_answer(p), parts=p.parts, confidence=_confidence(p))})
        for p in problems.problems
    )
    return problems.model_copy(update={"problems": done})


def read_answers(
    printed: str | None, *, parts: Sequence[Part] = (), confidence: float | None = None
) -> tuple[Answer, ...]:
    r"""Split a printed final answer and type each piece.

    Args:
        printed: Text with ``$...$``, for example ``（1）$v=3\,\mathrm{m/s}$；（2）C``; None or blank gives no answers.
        parts: The problem's parts, for labels.
        confidence: Of what was read, in [0, 1].

    Returns:
        Answers in printed order.
    """
    if not printed or not printed.strip():
        return ()
    labels = {p.label for p in parts}
    answers: list[Answer] = []
    for item in _split_parts(printed.strip()):
        for text in _split_values(item.text):
            answer = _typed(text)
            part = item.part if item.part in labels or not labels else None
            if part is None and item.part is None and answer.name:
                part = _part_asking_for(answer.name, parts)
            answers.append(answer.model_copy(update={"part": part, "confidence": confidence}))
    return tuple(answers)


# ---------------------------------------------------------------- where the answer is printed
def _printed_answer(problem: Problem) -> str | None:
    if problem.final_answer:
        return problem.final_answer
    solution = problem.solution or ""
    lines = solution.split("\n")
    for line in reversed(lines):
        marker = find_answer_marker(line)
        if marker is not None and marker.rest:
            return marker.rest
    boxed = _last_boxed(solution)
    if boxed is not None:
        return f"${boxed}$"
    chosen = _CHOSEN.search(lines[-1])
    return chosen[1] if chosen else None


def _last_boxed(text: str) -> str | None:
    r"""Content of the last ``\boxed{...}`` with balanced braces, without a leading arrow."""
    start = text.rfind("\\boxed{")
    if start < 0:
        return None
    depth = 0
    for i in range(start + len("\\boxed"), len(text)):
        depth += {"{": 1, "}": -1}.get(text[i], 0)
        if depth == 0:
            inside = text[start + len("\\boxed{") : i].strip()
            return re.sub(r"^\\(?:implies|Rightarrow|therefore)\s*", "", inside) or None
    return None


def _confidence(problem: Problem) -> float | None:
    known = [s.confidence for s in problem.spans if s.field == "answer" and s.confidence is not None]
    return min(known) if known else None


def _part_asking_for(name: str, parts: Sequence[Part]) -> str | None:
    """The only part whose text holds the name as a formula of its own."""
    wanted = re.sub(r"\s|\(.*\)$", "", name)
    asking = [
        p.label for p in parts if wanted in {re.sub(r"\s|\(.*\)$", "", m) for m in re.findall(r"\$([^$]+)\$", p.text)}
    ]
    return asking[0] if len(asking) == 1 else None


# ---------------------------------------------------------------- splitting
def _split_parts(text: str) -> list[_Item]:
    """Split at labels that count up from the first; without a label at the start the text is one item."""
    outside = _blank_math(text)
    matches = list(_LABEL.finditer(outside))
    if not matches or outside[: matches[0].start()].strip(" ，,;；:："):
        return [_Item(None, text)]
    kept: list[tuple[int, int, str]] = []
    for match in matches:
        mark = find_mark(text[match.start() :])
        if mark is None:
            continue
        if not kept or (mark.order > _order_of(kept[-1][2])):
            kept.append((match.start(), match.end(), mark.label))
    items = []
    for (_, end, label), following in zip(kept, [*(k[0] for k in kept[1:]), len(text)], strict=True):
        body = text[end:following].strip(" \n;；，,。")
        if body:
            items.append(_Item(label, body))
    return items or [_Item(None, text)]


def _order_of(label: str) -> tuple[int, ...]:
    """Position of a printed label in its list, for example ``(2,)`` for ``b``."""
    mark = find_mark(f"({label})")
    return mark.order if mark else (0,)


def _blank_math(text: str) -> str:
    return re.sub(r"\$[^$]*\$", lambda m: "\x00" * len(m.group()), text)


def _split_values(text: str) -> list[str]:
    """Split at semicolons, and at commas if a piece then says ``name = value``; a direction stays with its value."""
    text = text.strip().rstrip("。．;；").strip()
    if _CHOICE.match(_bare(text)):
        return [text]
    pieces: list[str] = []
    for chunk in _split_top(text, ";；\n"):
        items = _split_top(chunk, ",，、")
        named = [i for i in items if _RELATION.search(i)]
        if len(items) > 1 and named:
            pieces.extend(_with_directions(items))
        else:
            pieces.append(chunk)
    return [p for piece in pieces for p in (q.strip() for q in _AND.split(piece)) if p]


def _with_directions(items: Sequence[str]) -> list[str]:
    joined: list[str] = []
    for item in items:
        if joined and _DIRECTION.match(item.strip()):
            joined[-1] = f"{joined[-1].strip()}, {item.strip()}"
        else:
            joined.append(item)
    return joined


def _split_top(text: str, separators: str) -> list[str]:
    """Split at separators outside brackets; inside ``$...$`` as well, giving each piece its own dollar signs."""
    pieces, depth, math, current = [], 0, False, ""
    i = 0
    while i < len(text):
        char = text[i]
        if char == "\\" and i + 1 < len(text):
            step = (
                re.match(r"\\(?:q?quad)(?![A-Za-z])", text[i:]) if depth == 0 and math and "," in separators else None
            )
            token = step.group() if step else text[i : i + 2]
            current += " " if step else token
            i += len(token)
            continue
        if char == "$":
            math = not math
        depth += (char in "([{（") - (char in ")]}）")
        if char in separators and depth <= 0 and _is_separator(text, i):
            pieces.append(current + ("$" if math else ""))
            current = "$" if math else ""
        else:
            current += char
        i += 1
    pieces.append(current)
    return [p for p in (_tidy(p) for p in pieces) if p]


def _is_separator(text: str, index: int) -> bool:
    return not (text[index] == "," and text[index - 1 : index].isdigit() and text[index + 1 : index + 2].isdigit())


def _tidy(piece: str) -> str:
    piece = re.sub(r"^\$\s*(?:\\[,;!: ]|\s)*|", lambda m: "$" if m.group() else "", piece.strip(), count=1)
    piece = re.sub(r"^(?:and|和|与|及)\s*(?=\$)", "", piece)
    return "" if re.fullmatch(r"\$\s*\$?", piece) else piece.strip()


# ---------------------------------------------------------------- typing
def _bare(text: str) -> str:
    """The text without dollar signs."""
    return text.replace("$", "").strip()


def _typed(text: str) -> Answer:
    body = _bare(text)
    word = body.strip("。.()（） ").lower()
    if _CHOICE.match(body):
        return Answer(kind=AnswerKind.CHOICE, printed=text, value="".join(re.findall(r"[A-H]", body)))
    if word in _TRUE or word in _FALSE:
        return Answer(kind=AnswerKind.TRUE_FALSE, printed=text, value="true" if word in _TRUE else "false")
    if _is_words(text):
        return Answer(kind=AnswerKind.TEXT, printed=text)
    printed = text if "$" in text or not re.search(r"[\\^_]", text) or _HAN.search(text) else f"${text}$"
    if _INTERVAL.match(body):
        return Answer(kind=AnswerKind.INTERVAL, printed=printed, value=body)
    bound = _BOUND.search(body)
    equals = [m for m in _EQUALS.finditer(body) if _depth(body, m.start()) == 0]
    if bound and not (equals and equals[0].start() < bound.start()):
        name = body[: bound.start()].strip()
        return Answer(kind=AnswerKind.INTERVAL, printed=printed, name=name if _is_name(name) else None, value=body)
    if not equals:
        return _valued(printed, None, body)
    name, value = body[: equals[0].start()].strip(), body[equals[-1].end() :].strip()
    if not _is_name(name):
        return Answer(kind=AnswerKind.EQUATION, printed=printed, value=body)
    return _valued(printed, name, value)


def _depth(text: str, end: int) -> int:
    return sum((c == "{") - (c == "}") for c in text[:end])


def _is_words(text: str) -> bool:
    """Mostly words outside formulas: a sentence, not a value with a Chinese name or unit."""
    plain = re.sub(r"\$[^$]*\$", " ", text)
    if "$" in text:
        if text.count("$") > 2 and not _RELATION.search(text) and len(_HAN.findall(plain)) > 1:
            return True
        return len(_HAN.findall(plain)) > 6 or len(re.findall(r"[A-Za-z]{2,}", plain)) > 2
    return (len(_HAN.findall(plain)) > 6 and not re.search(r"\d", plain)) or (
        len(re.findall(r"\b[A-Za-z]{3,}\b", re.sub(r"\\[A-Za-z]+", " ", plain))) > 2 and not _EQUALS.search(plain)
    )


def _is_name(text: str) -> bool:
    """A symbol with indices and arguments, or a quotient of two; sums and plain numbers are no names."""
    return (
        bool(text)
        and bool(_NAME.match(text))
        and not re.fullmatch(r"[\d\s.]+", text)
        and not re.search(r"[+\-−]", text)
    )


def _valued(printed: str, name: str | None, value: str) -> Answer:
    clean = value
    ahead, _, after = re.sub("，", ",", value).rpartition(",")
    if ahead and _DIRECTION.match(after.strip()):
        clean = value[: len(ahead)].strip()
    match = re.match(_NUMBER, clean)
    if match:
        unit = clean[match.end() :]
        if not unit.strip():
            return Answer(kind=AnswerKind.NUMBER, printed=printed, name=name, value=match.group().strip())
        if _UNIT.match(unit):
            return Answer(
                kind=AnswerKind.NUMBER, printed=printed, name=name, value=match.group().strip(), unit=_plain_unit(unit)
            )
    if _PURE_NUMBER.match(clean):
        return Answer(kind=AnswerKind.NUMBER, printed=printed, name=name, value=clean)
    tail = _TAIL_UNIT.match(clean)
    if tail:
        pure = bool(_PURE_NUMBER.match(tail["value"]))
        kind = AnswerKind.NUMBER if pure else AnswerKind.EXPRESSION
        return Answer(
            kind=kind, printed=printed, name=name, value=tail["value"].strip(), unit=_plain_unit(tail["unit"])
        )
    if _HAN.search(clean) and not re.search(r"[\\\d=+*/^]", clean):
        return Answer(kind=AnswerKind.TEXT, printed=printed, name=name, value=clean or None)
    return Answer(kind=AnswerKind.EXPRESSION, printed=printed, name=name, value=clean or None)


def _plain_unit(latex: str) -> str:
    """A unit as people type it: ``m/s``, ``V*s``, ``°``, ``%``; powers keep ``^``."""
    text = re.sub(r"\\(?:mathrm|text|rm|mathsf|operatorname|textrm)\s*\{((?:[^{}]|\{[^{}]*\})*)\}", r" \1 ", latex)
    text = re.sub(r"\^\s*\{?\s*\\circ\s*\}?", "°", text).replace("\\degree", "°").replace("\\%", "%")
    text = text.replace("\\Omega", "Ω").replace("\\mu", "μ").replace("\\AA", "Å")
    text = re.sub(r"\s*(?:\\cdot|·|⋅)\s*", "·", text)
    text = re.sub(r"\\[,;:! ]|~", " ", text)
    text = re.sub(r"\^\{([^{}]*)\}", r"^\1", text)
    return re.sub(r"\s*([/·°])\s*", r"\1", re.sub(r"\s+", " ", text)).strip()
