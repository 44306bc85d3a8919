"""Runs stages on items: the plain pipeline without an orchestrator. ``flows/`` calls it in batches through Prefect."""

from physelite_build.machine.build import BuildResult, Crew, build_corpus
from physelite_build.machine.corpus import CORPUS
from physelite_build.machine.engines import Engines
from physelite_build.machine.files import Ingested, RootedDocument
from physelite_build.machine.machine import Machine
from physelite_build.machine.pages import KEEP_FIELD

__all__ = [
    "CORPUS",
    "KEEP_FIELD",
    "BuildResult",
    "Crew",
    "Engines",
    "Ingested",
    "Machine",
    "RootedDocument",
    "build_corpus",
]
