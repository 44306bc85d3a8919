"""Settings: which source wins, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from physelite_build.config import Settings, load_settings
from physelite_build.errors import FatalError


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("PHYSELITE_CACHE", "PHYSELITE_READ__TEXT_ENGINE"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def write(folder: Path, text: str) -> None:
    (folder / "physelite.toml").write_text(text, encoding="utf-8")


def test_environment_wins_over_file_and_file_over_default(empty_folder: Path, monkeypatch: pytest.MonkeyPatch):
    assert load_settings().ingest.pdf_dpi == 200
    write(empty_folder, "[ingest]\npdf_dpi = 150\nmax_pages = 7\n")
    assert load_settings().ingest.pdf_dpi == 150
    monkeypatch.setenv("PHYSELITE_INGEST__PDF_DPI", "300")
    assert (load_settings().ingest.pdf_dpi, load_settings().ingest.max_pages) == (300, 7)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[ingest]\npdf_dpi = 5\n", "ingest.pdf_dpi"),
        ("[ingest]\ndpi = 200\n", "ingest.dpi"),
        ("[reading]\nx = 1\n", "reading"),
        ("[flow]\nrunner = 'slurm'\n", "flow.runner"),
        ("[ingest\n", "TOML"),
    ],
)
def test_a_bad_file_is_refused_with_the_key(empty_folder: Path, text: str, told: str):
    write(empty_folder, text)
    with pytest.raises(FatalError, match=r"config\.invalid") as caught:
        load_settings()
    assert told in caught.value.message


def test_a_misspelt_variable_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PHYSELITE_INJEST__PDF_DPI", "300")
    with pytest.raises(FatalError, match="PHYSELITE_INJEST__PDF_DPI"):
        load_settings()


def test_settings_do_not_change():
    with pytest.raises(ValidationError):
        Settings().cache = Path("elsewhere")  # type: ignore[misc]


def test_only_what_can_change_a_result_is_in_the_result_key(monkeypatch: pytest.MonkeyPatch):
    plain = load_settings().result_key()
    monkeypatch.setenv("PHYSELITE_FLOW__WORKERS", "7")
    monkeypatch.setenv("PHYSELITE_RELEASE__NAME", "Other")
    monkeypatch.setenv("PHYSELITE_CACHE", "/somewhere")
    assert load_settings().result_key() == plain
    monkeypatch.setenv("PHYSELITE_READ__TEXT_ENGINE", "rapid")
    assert load_settings().result_key() != plain


def test_settings_cross_a_process_border_as_json():
    settings = load_settings()
    assert Settings.model_validate_json(settings.model_dump_json()) == settings
