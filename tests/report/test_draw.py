from __future__ import annotations

import numpy as np
import pytest
from built_store import FIGURE, HEIGHT_PX, WIDTH_PX, drawn_page

from physelite_build.blobs import decode_png
from physelite_build.errors import ItemError
from physelite_build.report import draw_page
from physelite_build.store import Store


def test_regions_are_drawn_on_the_upright_page(store: Store) -> None:
    drawn = decode_png(draw_page(store, "exam/p1"))
    edge = drawn[FIGURE.top + 100, FIGURE.left]
    assert tuple(int(v) for v in edge) == (0x37, 0x7F, 0x1A)


def test_legend_stands_below_the_page(store: Store) -> None:
    assert decode_png(draw_page(store, "exam/p1")).shape[0] > HEIGHT_PX


def test_print_outside_regions_is_untouched(store: Store) -> None:
    drawn = decode_png(draw_page(store, "exam/p1"))
    below = slice(1000, HEIGHT_PX)
    assert np.array_equal(drawn[below, :WIDTH_PX], drawn_page()[below])


def test_page_that_was_put_aside_is_shown_as_ingested(store: Store) -> None:
    assert decode_png(draw_page(store, "exam/p2")).shape == (400, 300, 3)


def test_unknown_page_is_an_item_error(store: Store) -> None:
    with pytest.raises(ItemError, match=r"page\.unknown"):
        draw_page(store, "exam/p9")
