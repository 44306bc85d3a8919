"""Errors cross process borders with code and sentence, and quotes stay short."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from physelite_build.errors import FatalError, ItemError, PhysEliteError, RetryableError, shorten


@pytest.mark.parametrize("kind", [FatalError, ItemError, RetryableError])
def test_an_error_survives_a_process_border(kind: type[PhysEliteError]):
    error = pickle.loads(pickle.dumps(kind("page.too_small", "page 3 is too small; scan it again")))
    assert type(error) is kind
    assert (error.code, error.message) == ("page.too_small", "page 3 is too small; scan it again")
    assert str(error) == "page.too_small: page 3 is too small; scan it again"


def test_the_three_reactions_exclude_each_other():
    kinds = (FatalError, ItemError, RetryableError)
    assert all(not issubclass(a, b) for a in kinds for b in kinds if a is not b)
    assert all(issubclass(kind, PhysEliteError) for kind in kinds)


@given(st.text(), st.integers(3, 100))
def test_a_quote_is_one_printable_line_of_limited_length(text: str, limit: int):
    quoted = shorten(text, limit=limit)
    assert len(quoted) <= limit
    assert quoted.isprintable()


@given(st.text(alphabet=st.characters(categories=("L", "N", "P")), max_size=80))
def test_a_short_printable_text_is_quoted_as_it_is(text: str):
    assert shorten(text) == text


def test_the_middle_of_a_long_text_is_cut_out():
    assert shorten("a" * 50 + "b" * 50, limit=11) == "aaaaa…bbbbb"
