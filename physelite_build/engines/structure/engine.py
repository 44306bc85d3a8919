"""The embedded formula engine: cuts a formula at fraction bars and roots and lets the text engine read the simple pieces.

It needs no weights of its own. Scripts come from the place of the ink (``engines/glyphs.py``), LaTeX from
``engines/notation.py``; the pieces of all formulas of one call are read together on sheets (``engines/sheet.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from physelite_build.engines.protocol import FormulaReading, Picture
from physelite_build.engines.structure.clusters import Grid, Scripts, find_grids, find_scripts, row_places
from physelite_build.engines.structure.glyphs import Glyph, is_cjk
from physelite_build.engines.structure.ink import Blob, Stack, em_px, find_blobs, find_stacks, join_strokes, surround
from physelite_build.engines.structure.notation import latex_of
from physelite_build.engines.structure.rows import SIGNS, row_glyphs
from physelite_build.engines.structure.sheet import Strip, read_strips
from physelite_build.geometry import Box
from physelite_build.records import Fingerprint, Line

__all__ = ["LineReader", "StructureEngine", "crop_lines"]

LineReader = Callable[[Picture], tuple[Line, ...]]
"""Reads every line of a BGR picture, for example ``PaddleEngine.read_lines``."""

MAX_DEPTH = 4
"""Nested fractions and roots; deeper ones are noise."""
SURE = 0.9
"""Lines below this confidence are read again after cutting (wrong pieces of the development set: median 0.85)."""
SCRIPT_SIZE = 0.7
"""Scripts are set in 70 % of the size (TeX)."""
TAG_GAP_EM = 2.0
"""White space before the number of an equation."""
_TABLE = str.maketrans(SIGNS)


_Shape = Stack | Grid | Scripts


@dataclass(slots=True)
class _Part:
    """A fraction, root, grid or double script inside a row, with the rows of its cells."""

    shape: _Shape
    around: Blob
    axis: float | None
    cells: list[list[_Row]]


@dataclass(slots=True)
class _Row:
    """A sequence of characters and parts."""

    blobs: list[Blob]
    parts: list[_Part]
    em: float
    lines: tuple[Line, ...] = ()
    complete: bool = False
    """True if the lines show all of the loose ink and nothing else."""
    strip: Strip | None = None
    """What must be read again."""


@dataclass(slots=True)
class _Job:
    """One crop on its way."""

    lines: Sequence[Line]
    again: bool
    """True if a text engine is at hand."""
    rows: list[_Row] = field(default_factory=list)
    strips: list[Strip] = field(default_factory=list)


class StructureEngine:
    """Formula engine made of geometry and a text engine; satisfies ``FormulaEngine``."""

    def __init__(self, *, read_lines: LineReader | None = None) -> None:
        self._read_lines = read_lines

    @property
    def fingerprint(self) -> Fingerprint:
        """Name and version, and the text engine that reads the pieces."""
        reader = "none"
        if self._read_lines is not None:
            owner = getattr(self._read_lines, "__self__", None)
            known = getattr(owner, "fingerprint", None)
            reader = known.key if isinstance(known, Fingerprint) else "unknown"
        return Fingerprint(name="structure", version="1", models=(f"reader:{reader}",))

    def recognise(self, crops: Sequence[Picture], lines: Sequence[Sequence[Line]]) -> list[FormulaReading]:
        r"""Read formulas, one or more rows each.

        Args:
            crops: BGR uint8 pictures, dark on light, one per formula.
            lines: What the text engine saw in each crop, in pixels of the crop.

        Returns:
            One reading per crop: LaTeX, rows joined by ``\\``, and the lowest confidence of its pieces.

        Raises:
            ItemError: ``read.engine`` if the text engine fails on a sheet of pieces.
        """
        jobs = [_Job(found, self._read_lines is not None) for found in lines]
        for job, crop in zip(jobs, crops, strict=True):
            blobs = find_blobs(crop)
            if blobs:
                job.rows = _rows(crop, blobs, job, depth=0)
        if self._read_lines is not None:
            read_strips([strip for job in jobs for strip in job.strips], self._read_lines)
        return [_reading(job.rows) for job in jobs]


def _rows(crop: Picture, blobs: Sequence[Blob], job: _Job, *, depth: int, outer_em: float = 0.0) -> list[_Row]:
    em = em_px(blobs)
    if outer_em:  # few characters, perhaps only scripts: no better guess than the formula around them
        em = min(1.05 * outer_em, max(0.65 * outer_em, em))
    deeper = depth < MAX_DEPTH
    grids, free = find_grids(crop, blobs, em) if deeper else ([], list(blobs))
    stacks, free = find_stacks(free, em) if deeper else ([], free)
    rows = []
    for place in row_places([*(g.around for g in grids), *(s.around for s in stacks), *free], em):
        loose = [b for b in free if place.top <= b.y < place.bottom]
        scripts, simple = find_scripts(join_strokes(loose, em), em) if deeper else ([], join_strokes(loose, em))
        parts: list[_Part] = []
        for grid in (g for g in grids if place.top <= g.around.y < place.bottom):
            cells = [cell for row in grid.rows for cell in row]
            parts.append(_part(grid, grid.around, None, cells, crop, job, depth, em))
        for stack in (s for s in stacks if place.top <= s.around.y < place.bottom):
            parts.append(_part(stack, stack.around, stack.axis, stack.parts, crop, job, depth, em))
        for pair in scripts:
            cells = [pair.low] if pair.prime else [pair.low, pair.high]
            parts.append(_part(pair, pair.around, None, cells, crop, job, depth, em * SCRIPT_SIZE))
        row = _Row(simple, parts, em)
        taken = {b for pair in scripts for b in (*pair.high, *pair.low)}
        left = [b for b in loose if not any(_covers(t, b) for t in taken)]
        if left:
            row.lines, row.complete = _lines_of(row, surround(left), job.lines)
            if job.again and not (row.complete and _lowest(row.lines) >= SURE):
                row.strip = Strip(crop, tuple(left), em)
                job.strips.append(row.strip)
        rows.append(row)
    return rows


def _covers(joined: Blob, stroke: Blob) -> bool:
    return joined.left <= stroke.x <= joined.right and joined.top <= stroke.y <= joined.bottom


def _part(
    shape: _Shape,
    around: Blob,
    axis: float | None,
    cells: Sequence[Sequence[Blob]],
    crop: Picture,
    job: _Job,
    depth: int,
    em: float,
) -> _Part:
    return _Part(shape, around, axis, [_rows(crop, cell, job, depth=depth + 1, outer_em=em) for cell in cells])


def _lines_of(row: _Row, place: Blob, lines: Sequence[Line]) -> tuple[tuple[Line, ...], bool]:
    """Find the lines that show the loose ink of a row, and say whether they show it fully and nothing else."""
    stacks = [part.around for part in row.parts]
    own = []
    clean = True
    for line in lines:
        x, y = line.box.centre
        if not (place.top - 0.2 * row.em <= y <= place.bottom + 0.2 * row.em):
            continue
        if not (place.left - row.em <= x <= place.right + row.em):
            continue
        if any(s.left < x < s.right and s.top < y < s.bottom and line.box.width <= s.width + row.em for s in stacks):
            continue
        own.append(line)
        intrudes = any(_shared(line.box.left, line.box.right, s.left, s.right) > 0.4 * row.em for s in stacks)
        outside = max(place.left - line.box.left, line.box.right - place.right, place.top - line.box.top)
        clean = clean and not intrudes and outside < row.em
    bare = [b for b in row.blobs if not any(ln.box.left - 3 <= b.x <= ln.box.right + 3 for ln in own)]
    return tuple(own), clean and bool(own) and not [b for b in bare if b.height > 0.2 * row.em]


def _shared(a: int, b: int, c: int, d: int) -> int:
    return min(b, d) - max(a, c)


def _reading(rows: Sequence[_Row]) -> FormulaReading:
    known: list[float] = []
    latex = _written(rows, known, top=True)
    return FormulaReading(latex, round(min(known), 4) if known and latex else None)


def _written(rows: Sequence[_Row], known: list[float], *, top: bool, in_root: bool = False) -> str:
    written = [text for row in rows if (text := _row_latex(row, known, top=top, in_root=in_root))]
    return (r" \\ " if top else " ").join(written)


def _row_latex(row: _Row, known: list[float], *, top: bool, in_root: bool) -> str:
    lines = row.lines
    if row.strip is not None and row.strip.lines and not (row.complete and _lowest(lines) > _lowest(row.strip.lines)):
        lines = row.strip.lines
    lines = tuple(_with_signs(line) for line in lines)
    known += [line.confidence for line in lines if line.confidence is not None]
    pieces = [(part.around, _part_latex(part, known), part.axis) for part in row.parts]
    glyphs = row_glyphs(lines, row.blobs, pieces, row.em)
    glyphs = _inside(glyphs, row)
    if in_root:
        glyphs = [g for g in glyphs if g.text != "√"]
    return latex_of(_without_tag(glyphs) if top else glyphs)


def _lowest(lines: Sequence[Line]) -> float:
    return min((line.confidence for line in lines if line.confidence is not None), default=1.0)


def _with_signs(line: Line) -> Line:
    """Turn lone Chinese characters that look like signs back into signs."""
    letters = [c for c in line.text if is_cjk(c) and c.isalpha()]
    if not letters or any(c not in SIGNS for c in letters):
        return line
    chars = tuple(c.model_copy(update={"text": c.text.translate(_TABLE)}) for c in line.chars)
    return line.model_copy(update={"text": line.text.translate(_TABLE), "chars": chars})


def _part_latex(part: _Part, known: list[float]) -> str:
    shape = part.shape
    in_root = isinstance(shape, Stack) and shape.kind == "root"
    texts = [_written(rows, known, top=False, in_root=in_root) for rows in part.cells]
    if not any(texts):
        return "'" if isinstance(shape, Scripts) and shape.prime else ""
    if isinstance(shape, Grid):
        return _grid_latex(shape, texts)
    if isinstance(shape, Scripts):
        low = f"_{{{texts[0]}}}" if texts[0] else ""
        high = "'" if shape.prime else f"^{{{texts[1]}}}" if texts[1] else ""
        return low + high
    if in_root:
        return rf"\sqrt{{{texts[0]}}}"
    return rf"\frac{{{texts[0] or '?'}}}{{{texts[1] or '?'}}}"


def _grid_latex(grid: Grid, texts: Sequence[str]) -> str:
    width = len(grid.rows[0])
    rows = [" & ".join(texts[start : start + width]) for start in range(0, len(texts), width)]
    body = r" \\ ".join(rows)
    if grid.right is None:
        return rf"\begin{{cases}}{body}\end{{cases}}"
    left, right = ("[", "]") if grid.straight else ("(", ")")
    return rf"\left{left}\begin{{matrix}}{body}\end{{matrix}}\right{right}"


def _inside(glyphs: Sequence[Glyph], row: _Row) -> list[Glyph]:
    """Drop characters that belong to what stands beside the row."""
    places = [*row.blobs, *(part.around for part in row.parts)]
    if not places:
        return []
    whole = surround(places)
    slack = 0.3 * row.em
    glyphs = [g for g in glyphs if g.blob is not None or g.text not in "。°∘．[]{}|"]
    return [g for g in glyphs if g.blob is not None or whole.left - slack <= g.x <= whole.right + slack]


def _without_tag(glyphs: list[Glyph]) -> list[Glyph]:
    """Drop the number of an equation: ``(3)`` far to the right of the rest."""
    for index, (before, glyph) in enumerate(pairwise(glyphs), 1):
        text = "".join(g.text for g in glyphs[index:])
        if glyph.gap_em >= TAG_GAP_EM and text[0] in "(（" and text[-1] in ")）" and text[1:-1].isdigit():
            return glyphs[:index] if before else glyphs
    return glyphs


def crop_lines(lines: Sequence[Line], box: Box) -> tuple[Line, ...]:
    """Move lines into the pixels of a crop.

    Args:
        lines: In pixels of the page.
        box: The crop.

    Returns:
        The same lines, shifted; parts outside the crop keep negative or large coordinates.
    """
    return tuple(
        line.model_copy(
            update={
                "box": _shifted(line.box, box),
                "chars": tuple(c.model_copy(update={"box": _shifted(c.box, box)}) for c in line.chars),
            }
        )
        for line in lines
    )


def _shifted(inner: Box, outer: Box) -> Box:
    return Box(
        left=inner.left - outer.left,
        top=inner.top - outer.top,
        right=inner.right - outer.left,
        bottom=inner.bottom - outer.top,
    )
