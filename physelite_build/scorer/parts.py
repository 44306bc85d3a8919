"""Splits references with several parts and finds the piece of a response that answers each part."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from .answers import Choice, Truth, UnreadableAnswerError, Value, Words
from .clean import plain_latex, split_top, trim
from .extract import TAIL_CHARS, find_boxes, first_sentence, marked_answer
from .labels import MAX_PARTS, Piece, find_literal_pieces, find_pieces, name_of, position_of, starts_with_label
from .read import read_reference, split_list
from .units import Unit

_NEXT_PART = re.compile(r"(?:^|[.;,]\s|\s)(?:and )?(?:for|in)(?: part| question)?$", re.IGNORECASE)
_LONGEST_LEAD = 30


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a reference."""

    label: str
    """Position or label as typed; empty when the part has none."""
    text: str
    """The reference answer of the part."""
    name: str = ""
    """Left-hand side in one spelling, for example `a`."""


def split_reference(text: str) -> tuple[Part, ...]:
    """Split a cleaned reference with several parts; empty when it is one answer.

    Parts are labelled, or named quantities in a list, or values of different units, or separated by semicolons.
    """
    pieces = find_pieces(text)
    labels = [piece.label for piece in pieces]
    if len(pieces) > 1 and starts_with_label(text) and len(set(labels)) == len(labels) <= MAX_PARTS:
        parts = tuple(Part(piece.label, trim(piece.text), name_of(piece.text)) for piece in pieces)
        if all(part.text for part in parts):
            return parts
    try:
        if isinstance(read_reference(text), Choice | Truth):
            return ()
    except (UnreadableAnswerError, RecursionError):
        pass
    return _split_list(text)


def _split_list(text: str) -> tuple[Part, ...]:
    if re.search(r"\\(?:pm|in|cup)(?![A-Za-z])|\\begin|[<>]|\\[lg][et](?![A-Za-z])", text):
        return ()
    by_semicolon = [piece for piece in (trim(piece) for piece in split_top(text, ";；\n")) if piece]
    pieces = by_semicolon if len(by_semicolon) > 1 else split_list(text)
    if not 1 < len(pieces) <= MAX_PARTS:
        return ()
    names = [name_of(piece) for piece in pieces]
    answers = []
    for piece in pieces:
        try:
            answers.append(read_reference(piece))
        except (UnreadableAnswerError, RecursionError):
            return ()
    if pieces is not by_semicolon and any(isinstance(answer, Words) for answer in answers):
        return ()
    if all(names) and len(set(names)) == len(names):
        return tuple(Part("", piece, name) for piece, name in zip(pieces, names, strict=True))
    units = [answer.units[:1] for answer in answers if isinstance(answer, Value)]
    if pieces is by_semicolon or (len(units) == len(answers) and _differ_in_dimension(units)):
        return tuple(Part("", piece, name) for piece, name in zip(pieces, names, strict=True))
    return ()


def _differ_in_dimension(units: list[tuple[Unit, ...]]) -> bool:
    if not all(units):
        return False
    return len({unit[0].dimension for unit in units}) > 1


def assign(response: str, parts: tuple[Part, ...]) -> list[str | None]:
    """Find the piece of a response for each part.

    Args:
        response: The response in plain characters.
        parts: The parts of the reference.

    Returns:
        One text for each part, None where the response has nothing for it.
    """
    boxes = find_boxes(response)
    if boxes.is_open:
        return [None] * len(parts)
    if len(boxes.contents) == 1 and len(parts) > 1:
        inner = _assign_text(boxes.contents[0], parts)
        if sum(piece is not None for piece in inner) > 1 or not find_pieces(response):
            return inner
    if boxes.contents:
        labelled = _boxes_by_label(response, parts)
        if labelled is not None:
            return labelled
        return _in_order(list(boxes.contents), parts)
    marked = marked_answer(response[-TAIL_CHARS:])
    if marked is not None:
        found = _assign_text(marked, parts)
        if sum(piece is not None for piece in found) > 1:
            return found
    return _assign_text(response, parts)


def group_labels(labels: Sequence[str]) -> list[str]:
    """Give every gold answer of a row the label of its part.

    Args:
        labels: Labels as typed, empty where the row has none; several answers may share one.

    Returns:
        The labels; where only some answers have one, the others get the lowest free numbers.
    """
    if not any(labels):
        return list(labels)
    taken = {position_of(label) for label in labels if label}
    free = (str(number) for number in range(1, len(labels) + len(taken) + 1) if str(number) not in taken)
    return [label or next(free) for label in labels]


def assign_row(response: str, parts: tuple[Part, ...]) -> list[str | None]:
    """Find the piece of a response for each gold answer of a row; answers with one label share that part's piece.

    Args:
        response: The response in plain characters.
        parts: The gold answers.

    Returns:
        One text for each answer, None where the response has nothing for it.
    """
    labels = group_labels([part.label for part in parts])
    heads = list(dict.fromkeys(labels))
    own_labels = {piece.label for piece in _labelled(plain_latex(response), parts)}
    if len(heads) < len(parts) and not own_labels & {position_of(label) for label in heads}:
        return assign(response, tuple(Part("", part.text, part.name) for part in parts))
    if len(heads) == len(parts) or heads == [""]:
        named = zip(labels, parts, strict=True)
        return assign(response, tuple(Part(label, part.text, part.name) for label, part in named))
    if len(heads) > 1:
        pieces = assign(response, tuple(Part(label, label) for label in heads))
    else:
        own = [p.text for p in _labelled(plain_latex(response), parts) if p.label == position_of(heads[0])]
        pieces = [own[-1] if own else response]
    found: dict[int, str | None] = {}
    for head, piece in zip(heads, pieces, strict=True):
        members = [index for index, label in enumerate(labels) if label == head]
        inner = tuple(Part("", parts[index].text, parts[index].name) for index in members)
        texts = [piece] if piece is None or len(inner) == 1 else assign(piece, inner)
        found.update(zip(members, texts if piece is not None else [None] * len(members), strict=True))
    return [found[index] for index in range(len(parts))]


def piece_of(response: str, label: str) -> str:
    """Return what a response that answers several labelled parts says about one of them; else the whole response."""
    boxes = find_boxes(response)
    if boxes.is_open or len(boxes.contents) == 1:
        return response
    pieces = [p for p in _labelled(plain_latex(response), (Part(label, ""),)) if _without_edges(p.text)]
    own = [piece.text for piece in pieces if piece.label == position_of(label)]
    is_labelled = len({piece.label for piece in pieces}) > 1 or starts_with_label(trim(response))
    return _without_edges(own[-1]) if own and is_labelled else response


def _boxes_by_label(response: str, parts: tuple[Part, ...]) -> list[str | None] | None:
    """Take the last box behind each label, when every label has one."""
    pieces = _labelled(response, parts)
    boxed: dict[str, str] = {}
    for piece in pieces:
        contents = find_boxes(piece.text).contents
        if contents:
            boxed[piece.label] = contents[-1]
    wanted = _positions(parts)
    if not boxed or not set(boxed) <= set(wanted):
        return None
    return [boxed.get(label) for label in wanted]


def _positions(parts: tuple[Part, ...]) -> list[str]:
    return [position_of(part.label) if part.label else str(index + 1) for index, part in enumerate(parts)]


def _labelled(text: str, parts: tuple[Part, ...]) -> list[Piece]:
    labels = [part.label for part in parts if part.label]
    if labels and not all(position_of(label).isdigit() for label in labels):
        return find_literal_pieces(text, labels)
    return find_pieces(text)


def _assign_text(text: str, parts: tuple[Part, ...]) -> list[str | None]:
    text = plain_latex(text)
    pieces = _labelled(text, parts)
    wanted = _positions(parts)
    if pieces and not all(part.name and not part.label for part in parts):
        found: dict[str, str] = {}
        for piece in pieces:
            body = _without_edges(piece.text)
            if body:
                found[piece.label] = body
        if set(found) & set(wanted):
            return [found.get(label) for label in wanted]
    flat = trim(text)
    items = [trim(piece) for piece in split_top(flat, ";；\n") if trim(piece)]
    if len(items) != len(parts):
        items = split_list(flat)
    if len(items) != len(parts):
        by_comma = [trim(piece) for piece in split_top(flat, ",，、") if trim(piece)]
        items = by_comma if len(by_comma) == len(parts) else items
    items = [_without_label(item) for item in items]
    by_name = _by_name(items, parts)
    if by_name is not None:
        return by_name
    if len(items) == len(parts) or len(items) == 1:
        return _in_order(items, parts)
    lines = [trim(line) for line in flat.split("\n") if trim(line)]
    return _in_order(lines, parts) if len(lines) == len(parts) else _in_order(items, parts)


def _without_edges(text: str) -> str:
    """Drop table bars and list marks around a piece and words that already lead to the next part."""
    text = trim(text)
    while text.endswith((" |", "\n|", " -", "\n-", " *", "\n*", "#")):
        text = text[:-1].rstrip()
    text = text.removeprefix("| ")
    tail = text[-_LONGEST_LEAD:]
    return trim(text[: len(text) - len(tail)] + _NEXT_PART.sub("", tail))


_LEAD = re.compile(
    r"^(?:[*•]\s+|-\s+(?=[A-Za-z\\$Α-ω])|(?:so|and|hence|thus|therefore|then|也即|即|所以|故|则)(?:,|，|\s)\s*)"
)


def _without_label(item: str) -> str:
    """Drop the number, bullet or joining word that a response puts before a value."""
    item = _LEAD.sub("", item)
    pieces = find_pieces(item) if starts_with_label(item) else []
    return trim(pieces[0].text) if len(pieces) == 1 and trim(pieces[0].text) else item


def _by_name(items: list[str], parts: tuple[Part, ...]) -> list[str | None] | None:
    if not all(part.name for part in parts):
        return None
    wanted = [part.name for part in parts]
    short = [name.partition("(")[0] for name in wanted]
    if len(set(short)) == len(short):  # `u` is as good as `u(t)` where no other part is called u
        wanted = short
    named = {name: item for item in items if (name := _known_name(name_of(item), wanted))}
    if not any(name in named for name in wanted):
        return None
    return [named.get(name) for name in wanted]


def _known_name(name: str, wanted: Sequence[str]) -> str:
    return name if name in wanted else name.partition("(")[0]


def _in_order(items: list[str], parts: tuple[Part, ...]) -> list[str | None]:
    if len(items) > len(parts):
        items = items[-len(parts) :] if len(items) % len(parts) == 0 and len(set(items)) == len(parts) else []
    padded: list[str | None] = [*items]
    return padded + [None] * (len(parts) - len(padded))


def clip(text: str) -> str:
    """Return the first sentence of a piece when the piece is long."""
    return text if len(text) <= 400 else first_sentence(text)
