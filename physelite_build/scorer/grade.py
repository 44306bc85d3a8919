"""The scorer's entry points: one response against one reference, or against the answers of a dataset row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .answers import Answer, Choice, Directed, Truth, UnreadableAnswerError, Words
from .clean import clean, plain_characters, plain_latex, trim
from .compare import UNREADABLE, compare_text
from .compare_values import DEFAULT_TOLERANCE, Rules
from .extract import MAX_RESPONSE_CHARS, TAIL_CHARS, candidates, last_sentence, marked_answer
from .labels import name_of
from .parts import Part, assign, assign_row, piece_of, split_reference
from .read import kind_of, read_reference
from .verdict import CORRECT, INCORRECT, UNSCORED, Judgement, Verdict, differ

MAX_REFERENCE_CHARS = 4000
MAX_ANSWER_CHARS = 8000
_SHOWN_CHARS = 200


def score(
    response: str,
    reference: str,
    *,
    language: str = "en",
    kind: str | None = None,
    tolerance: float | None = None,
    bare: bool = False,
) -> Verdict:
    """Score one response against one reference answer.

    Args:
        response: Running text or the answer alone, any length; only its last 200,000 characters are read.
        reference: The reference as printed, with its unit; may have several labelled, named or ordered parts.
        language: BCP 47 tag of the response. Both languages are always read; kept for callers that log it.
        kind: Declared kind of the reference (`number`, `integer`, `expression`, `choice`, ...), or None to judge by
            its looks.
        tolerance: Relative tolerance for numbers, 0 or more; None means 0.05.
        bare: True when the response is known to be nothing but the final answer.

    Returns:
        The verdict; never an exception for any text.
    """
    del language
    rules = _rules(kind, tolerance)
    plain = plain_characters(response[-MAX_RESPONSE_CHARS:])
    if len(reference) > MAX_REFERENCE_CHARS:
        return _unscored("The reference is too long.")
    cleaned = clean(reference)
    parts = () if kind_of(kind) else split_reference(cleaned)
    if parts:
        pieces = assign(plain, parts)
        verdicts = [_score_part(piece, part.text, rules) for piece, part in zip(pieces, parts, strict=True)]
        return _combine(verdicts, plain)
    return _score_one(plain, cleaned, rules, kind, bare=bare)


def score_problem(response: str, answers: Sequence[Mapping[str, Any]], *, language: str = "en") -> Verdict:
    """Score one response against the gold answers of a dataset row.

    Args:
        response: Running text or the answers alone.
        answers: One mapping for each part with `part` (label or None), `answer`, and optionally `kind` and
            `tolerance`.
        language: BCP 47 tag of the response.

    Returns:
        Correct only when every part is; the credit is the share of right parts. Unscored when there are no answers or
        one of them cannot be read.
    """
    if not answers:
        return _unscored("The row has no answers.")
    if len(answers) == 1:
        only = answers[0]
        label = str(only.get("part") or "")
        return score(
            piece_of(plain_characters(response[-MAX_RESPONSE_CHARS:]), label) if label else response,
            str(only.get("answer") or ""),
            language=language,
            kind=only.get("kind"),
            tolerance=only.get("tolerance"),
        )
    plain = plain_characters(response[-MAX_RESPONSE_CHARS:])
    parts = tuple(_part(answer) for answer in answers)
    pieces = assign_row(plain, parts)
    verdicts = []
    for piece, answer in zip(pieces, answers, strict=True):
        reference = str(answer.get("answer") or "")
        if piece is None:
            reason = readable_reason(reference, answer.get("kind"))
            verdicts.append(_missing() if reason is None else _unscored(reason))
            continue
        verdicts.append(score(piece, reference, kind=answer.get("kind"), tolerance=answer.get("tolerance")))
    return _combine(verdicts, plain)


def is_readable(reference: str, kind: str | None = None) -> bool:
    """Tell whether the scorer can compare anything with a reference."""
    return readable_reason(reference, kind) is None


def readable_reason(reference: str, kind: str | None = None) -> str | None:
    """Say why a reference cannot be read, in one sentence; None when it can."""
    if len(reference) > MAX_REFERENCE_CHARS:
        return "The reference is too long."
    cleaned = clean(reference)
    parts = () if kind_of(kind) else split_reference(cleaned)
    try:
        for text in [part.text for part in parts] or [cleaned]:
            _read(text, None if parts else kind)
    except UnreadableAnswerError as error:
        return f"The reference cannot be read: {error}."
    return None


def _rules(kind: str | None, tolerance: float | None) -> Rules:
    declared = kind_of(kind)
    usable = tolerance is not None and tolerance >= 0
    return Rules(
        tolerance=float(tolerance) if usable and tolerance is not None else DEFAULT_TOLERANCE,
        is_exact=declared == "integer",
        is_expression=declared == "expression",
    )


def _part(answer: Mapping[str, Any]) -> Part:
    text = clean(str(answer.get("answer") or "")[:MAX_REFERENCE_CHARS])
    return Part(str(answer.get("part") or ""), text, name_of(text))


def _read(text: str, kind: str | None) -> Answer:
    try:
        return read_reference(text, kind)
    except RecursionError as error:
        raise UnreadableAnswerError("it is nested too deeply") from error


def _score_part(piece: str | None, reference: str, rules: Rules) -> Verdict:
    if piece is None:
        try:
            _read(reference, None)
        except UnreadableAnswerError as error:
            return _unscored(f"The reference cannot be read: {error}.")
        return _missing()
    return _score_one(piece, reference, rules, None, bare=False)


def _score_one(plain: str, reference: str, rules: Rules, kind: str | None, *, bare: bool) -> Verdict:
    """Score a response in plain characters against one cleaned reference."""
    try:
        answer = _read(reference, kind)
    except UnreadableAnswerError as error:
        return _unscored(f"The reference cannot be read: {error}.")
    judgement: Judgement = differ("no_answer", "The response holds no final answer.")
    shown: str | None = None
    for text in _places(answer, plain, bare=bare):
        if len(text) > MAX_ANSWER_CHARS:
            judgement, shown = differ(UNREADABLE, "The answer is too long to be one."), text
            continue
        cleaned = trim(plain_latex(text))
        judgement, shown = compare_text(answer, cleaned, rules, kind_of(kind)), cleaned
        if judgement.reason not in {UNREADABLE, "no_answer"} and not (
            isinstance(answer, Words) and not judgement.equal
        ):
            break
    outcome = CORRECT if judgement.equal else INCORRECT
    credit = 1.0 if judgement.equal else 0.0
    return Verdict(outcome, credit, judgement.reason, judgement.explanation, _shorten(shown))


def _places(answer: Answer, plain: str, *, bare: bool) -> list[str]:
    """List the texts in which the answer is looked for; words and letters are looked for in the whole as well."""
    places = candidates(plain, bare=bare)
    if isinstance(answer, Choice | Truth | Words | Directed) and places and "\\boxed" not in plain:
        whole = trim(plain[-TAIL_CHARS:])
        if isinstance(answer, Choice):
            return [whole]
        if isinstance(answer, Words):
            is_marked = marked_answer(plain[-TAIL_CHARS:]) is not None
            return [*dict.fromkeys([places[0] if is_marked else trim(last_sentence(plain)), whole])]
        first = [whole] if isinstance(answer, Directed) and len(whole) <= _SHOWN_CHARS else places[:1]
        return [*dict.fromkeys([*first, whole, *places])]
    return places


def _combine(verdicts: list[Verdict], plain: str) -> Verdict:
    parts = tuple(verdicts)
    if any(part.outcome == UNSCORED for part in parts):
        first = next(part for part in parts if part.outcome == UNSCORED)
        return Verdict(UNSCORED, 0.0, first.reason, first.explanation, None, parts)
    credit = sum(part.credit for part in parts) / len(parts)
    wrong = [index + 1 for index, part in enumerate(parts) if part.outcome != CORRECT]
    shown = _shorten("; ".join(part.extracted or "-" for part in parts)) if plain.strip() else None
    if not wrong:
        return Verdict(CORRECT, 1.0, "equal", "All parts agree with the reference.", shown, parts)
    missing = all(parts[number - 1].reason == "part.missing" for number in wrong)
    listed = ", ".join(str(number) for number in wrong)
    reason = "part.missing" if missing else "part.wrong"
    return Verdict(INCORRECT, credit, reason, f"Not right: part {listed} of {len(parts)}.", shown, parts)


def _missing() -> Verdict:
    return Verdict(INCORRECT, 0.0, "part.missing", "The response has no answer for this part.")


def _unscored(explanation: str) -> Verdict:
    return Verdict(UNSCORED, 0.0, "unreadable_reference", explanation)


def _shorten(text: str | None) -> str | None:
    if text is None or len(text) <= _SHOWN_CHARS:
        return text
    return text[: _SHOWN_CHARS - 1] + "…"
