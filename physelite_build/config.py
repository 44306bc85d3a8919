"""The one settings tree: defaults, then ``physelite.toml``, then ``PHYSELITE_*`` environment variables.

Unknown keys are refused. Secrets never stand in the file; no setting here is one.
"""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Literal

from platformdirs import user_cache_path
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, TomlConfigSettingsSource

from physelite_build.errors import FatalError, shorten

__all__ = [
    "CheckSettings",
    "DedupSettings",
    "FlowSettings",
    "FormulaSettings",
    "IngestSettings",
    "ReadSettings",
    "Settings",
    "VisionSettings",
    "load_settings",
]

CONFIG_NAME = "physelite.toml"


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    @property
    def key(self) -> str:
        """The section as one stable line, for cache keys."""
        return self.model_dump_json()


class IngestSettings(_Section):
    """How files become page images."""

    pdf_dpi: int = Field(default=200, ge=72, le=600)
    """Resolution at which PDF pages are drawn."""
    max_pixels: int = Field(default=80_000_000, ge=1_000_000)
    """Largest page; a bigger one is refused before it is decoded."""
    max_pages: int = Field(default=2000, ge=1)
    """Most pages of one file."""
    max_file_mb: int = Field(default=500, ge=1)
    """Largest file."""


class ReadSettings(_Section):
    """Which engines read the pages."""

    text_engine: str = "paddle"
    """``paddle``, ``rapid``, ``paddle-native`` or the name of an entry point in the group ``physelite_build.text_engines``."""
    formula_engine: str = "structure"
    """``structure``, ``pix2tex``, ``formulanet``, ``vision`` or the name of an entry point in the group
    ``physelite_build.formula_engines``."""


class VisionSettings(_Section):
    """Where the engine ``vision`` sends crops; the key stands in an environment variable and nowhere else."""

    url: str | None = None
    """Base address of an OpenAI-compatible service, for example ``http://localhost:8000/v1``."""
    model: str | None = None
    """Name of a model that sees pictures."""
    key_variable: str = "OPENAI_API_KEY"
    """Environment variable with the key; none is sent if it is not set."""
    timeout_s: float = Field(default=60.0, gt=0)
    """Longest wait for one answer."""
    concurrency: int = Field(default=4, ge=1, le=64)
    """Requests at a time."""


class FormulaSettings(_Section):
    """How the formula engines that need weights are run. What changes a result stands in the engine's fingerprint."""

    python: Path | None = None
    """Interpreter of the environment with pix2tex (``make setup-formula``); None is the running one."""
    weights: Path | None = None
    """Folder with the weights of the engine in use; None is where ``physelite models fetch`` puts them."""
    threads: int = Field(default=1, ge=1)
    """Threads of the model."""
    timeout_s: float = Field(default=120.0, gt=0)
    """Longest wait for one reading of pix2tex; its process is then started anew."""
    formulanet_model: Literal["PP-FormulaNet_plus-S", "PP-FormulaNet_plus-M", "PP-FormulaNet_plus-L"] = (
        "PP-FormulaNet_plus-M"
    )
    """Model that the folder of the engine ``formulanet`` holds."""
    formulanet_backend: Literal["onnxruntime", "paddle"] = "onnxruntime"
    """Runtime of the engine ``formulanet``."""
    vision: VisionSettings = VisionSettings()


class DedupSettings(_Section):
    """When two problems are the same."""

    same: float = Field(default=0.95, gt=0.5, le=1)
    """Normalised Indel similarity from which two problems count as the same."""
    ask: float = Field(default=0.85, gt=0.5, le=1)
    """From here to ``same`` a person decides."""
    max_removal: float = Field(default=0.5, ge=0, le=1)
    """A run that would drop a larger share of the problems stops."""


class CheckSettings(_Section):
    """What blocks a release."""

    least_confidence: float = Field(default=0.5, ge=0, le=1)
    """Problems with a less certain row get a warning."""


class ReleaseSettings(_Section):
    """What a release says about itself."""

    name: str = "PhysElite"
    """Name of the benchmark."""
    repo_id: str | None = None
    """``owner/name`` on the Hugging Face Hub."""
    contact: str | None = None
    """Where readers report an error: a URL or an address."""
    canary_guid: str | None = None
    """GUID of the canary sentence; None derives one from the name."""


class FlowSettings(_Section):
    """How Prefect runs the work. Nothing here changes a result."""

    runner: Literal["threads", "dask", "ray"] = "threads"
    """Task runner; ``dask`` and ``ray`` need prefect-dask or prefect-ray."""
    address: str | None = None
    """Address of a running Dask or Ray cluster; None starts a local one."""
    workers: int = Field(default=2, ge=1)
    """Batches at a time."""
    batch_pages: int = Field(default=25, ge=1)
    """Pages per task: a task costs about 10 CPU-ms, so a page of its own would be a waste."""
    retries: int = Field(default=2, ge=0)
    """How often a batch is tried again after a passing fault (busy disk, locked store)."""
    engine_threads: int = Field(default_factory=lambda: min(4, os.cpu_count() or 1), ge=1)
    """Threads of the OCR runtime."""


class Settings(BaseSettings):
    """All settings. ``physelite config`` prints what is in force."""

    model_config = SettingsConfigDict(
        frozen=True, extra="forbid", env_prefix="PHYSELITE_", env_nested_delimiter="__", toml_file=CONFIG_NAME
    )

    cache: Path = Field(default_factory=lambda: user_cache_path("physelite"))
    """Derived files that can be made again: model folders, Prefect's own database."""
    ingest: IngestSettings = IngestSettings()
    read: ReadSettings = ReadSettings()
    formula: FormulaSettings = FormulaSettings()
    dedup: DedupSettings = DedupSettings()
    check: CheckSettings = CheckSettings()
    release: ReleaseSettings = ReleaseSettings()
    flow: FlowSettings = FlowSettings()

    def result_key(self) -> str:
        """The sections that can change a result, as one stable line."""
        return self.model_dump_json(include={"ingest", "read", "dedup", "check"})

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Order of precedence: arguments, environment, file."""
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls)


def load_settings() -> Settings:
    """Read the settings in force for the current folder.

    Raises:
        FatalError: ``config.invalid`` names the offending key and value.
    """
    unknown = sorted(name for name in os.environ if name.startswith("PHYSELITE_") and not _is_known(name))
    if unknown:
        raise FatalError("config.invalid", f"environment variable {unknown[0]} names no setting; see: physelite config")
    try:
        return Settings()
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise FatalError(
            "config.invalid",
            f"setting {key!r} = {shorten(first.get('input'))}: {first['msg']}; mend {CONFIG_NAME} or PHYSELITE_* variables",
        ) from error
    except tomllib.TOMLDecodeError as error:
        raise FatalError("config.invalid", f"{CONFIG_NAME} is not valid TOML: {error}") from error


def _is_known(variable: str) -> bool:
    section = variable.removeprefix("PHYSELITE_").split("__")[0].lower()
    return section in Settings.model_fields
