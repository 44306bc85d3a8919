"""The documentation is true: its commands exist, every command is documented, its links lead somewhere."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer.main

from physelite_build.cli import app

ROOT = Path(__file__).parents[1]
PAGES = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")
FENCE = re.compile(r"```bash\n(.*?)```", re.DOTALL)


def documented_commands() -> list[str]:
    blocks = [block for page in PAGES for block in FENCE.findall(read(page))]
    lines = [line.split(" #")[0].strip() for block in blocks for line in block.splitlines()]
    return [line for line in lines if line]


def read(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def all_commands(command: Any, prefix: tuple[str, ...] = ()) -> dict[str, Any]:
    inner = getattr(command, "commands", None)
    if inner is None:
        return {" ".join(prefix): command}
    return {k: v for name, sub in inner.items() for k, v in all_commands(sub, (*prefix, name)).items()}


COMMANDS = all_commands(typer.main.get_command(app))


@pytest.mark.parametrize("line", [line for line in documented_commands() if line.startswith("physelite ")])
def test_documented_physelite_commands_parse(line: str) -> None:
    words = shlex.split(line)[1:]
    depth = 2 if words[0] in ("release", "bench", "models") else 1
    command = COMMANDS[" ".join(words[:depth])]
    options = {option for parameter in command.params for option in parameter.opts}
    given = {word for word in words[depth:] if word.startswith("-")}
    assert given <= options


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_is_in_the_readme_and_has_an_example(name: str) -> None:
    assert f"physelite {name}" in read("README.md")
    assert "Example: physelite" in (COMMANDS[name].help or "")


@pytest.mark.parametrize("line", [line for line in documented_commands() if line.startswith("make ")])
def test_documented_make_targets_exist(line: str) -> None:
    target = line.split()[1]
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize("page", PAGES)
def test_links_inside_the_project_lead_somewhere(page: str) -> None:
    links = re.findall(r"\]\((?!https?://)([^)#]+)\)", read(page))
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_every_make_target_says_what_it_does() -> None:
    targets = re.findall(r"^([a-z-]+):(.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert [name for name, rest in targets if "##" not in rest] == []
