"""Measures how well pages were read, against typed truth, and holds the plain baseline that it is compared with."""

from physelite_build.bench.pages import PageBench, as_dict, as_markdown, as_tables, measure, run_pages_bench
from physelite_build.bench.plain import PlainPage, plain_records

__all__ = [
    "PageBench",
    "PlainPage",
    "as_dict",
    "as_markdown",
    "as_tables",
    "measure",
    "plain_records",
    "run_pages_bench",
]
