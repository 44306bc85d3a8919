"""A folder with one file of each broken kind beside two good documents."""

from __future__ import annotations

import io
import json
import os
import struct
import zipfile
import zlib
from pathlib import Path

import cv2
import pytest
from builds import SAMPLES
from fixed_text import draw_page, write_document, write_tiff
from processes import PeakMemory, left_over, start

MOST_MEMORY_BYTES = 3_000_000_000
BOMB_PX = 60_000
BOMB_BYTES = 60_000_000

ENCRYPTED_PDF = b"""%%PDF-1.4
1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj
2 0 obj << /Type /Pages /Kids [3 0 R] /Count 1 >> endobj
3 0 obj << /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] >> endobj
4 0 obj << /Filter /Standard /V 1 /R 2 /Length 40 /P -4
/O <%s> /U <%s> >> endobj
trailer << /Root 1 0 R /Encrypt 4 0 R /ID [<00112233445566778899aabbccddeeff> <00112233445566778899aabbccddeeff>] >>
%%%%EOF
""" % (b"5a" * 32, b"a5" * 32)


def png(k: int) -> bytes:
    return cv2.imencode(".png", draw_page(k))[1].tobytes()


def bomb_png() -> bytes:
    header = struct.pack(">IIBBBBB", BOMB_PX, BOMB_PX, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(b"\0" * 1000)), (b"IEND", b""))
    packed = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(packed)


def zipped(name: str, data: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, data)
    return out.getvalue()


def write_bad_files(folder: Path) -> dict[str, set[str]]:
    """Write broken files; return the codes that may be told for each."""
    folder.mkdir()
    tiff = folder / "whole.tif"
    write_tiff(tiff, [draw_page(3)])
    half_tiff = tiff.read_bytes()[: tiff.stat().st_size // 2]
    tiff.unlink()
    jpeg = cv2.imencode(".jpg", draw_page(3))[1].tobytes()
    pdf = (SAMPLES / "quiz-en" / "winter-quiz.pdf").read_bytes()
    files = {
        "encrypted.pdf": (ENCRYPTED_PDF, {"source.encrypted"}),
        "cut off.pdf": (pdf[: len(pdf) // 3], {"source.damaged"}),
        "cut off.jpg": (jpeg[: len(jpeg) // 3], {"source.damaged"}),
        "cut off.png": (png(3)[: len(png(3)) // 3], {"source.damaged"}),
        "cut off.tif": (half_tiff, {"source.damaged", "source.unknown_type"}),
        "empty.png": (b"", {"source.empty"}),
        "letter.pdf": (b"Dear colleague, the scans follow.\n", {"source.unknown_type"}),
        "binary.docx": (os.urandom(2000), {"source.unsupported"}),
        "bomb.png": (bomb_png(), {"page.too_large", "source.too_large"}),
        "bomb.zip": (zipped("page.png", png(0)[:16] + b"\0" * BOMB_BYTES), {"source.zip_bomb"}),
        "nested.zip": (zipped("inner.zip", zipped("page.png", png(0))), {"source.nested_zip"}),
    }
    for name, (data, _) in files.items():
        (folder / name).write_bytes(data)
    return {name: codes for name, (_, codes) in files.items()}


@pytest.mark.engine
def test_broken_files_are_named_one_by_one_and_good_documents_are_complete(environment: dict[str, str], tmp_path: Path):
    pytest.importorskip("paddleocr", reason="the [ocr] extra is not installed")
    scans = tmp_path / "scans"
    scans.mkdir()
    bad = write_bad_files(scans / "bad")
    write_document(scans / "drawn", [draw_page(1)])
    (scans / "renamed").mkdir()
    (scans / "renamed" / "a picture.pdf").write_bytes(png(2))

    build = start(environment, "build", scans, "-o", tmp_path / "work", "--json")
    with PeakMemory(build) as memory:
        out, err = build.communicate(timeout=500)

    assert build.returncode == 3, err
    assert "Traceback" not in err
    result = json.loads(out)
    refused = {item["item_id"]: item for item in result["refused"]}
    told = {name: [item for key, item in refused.items() if Path(key.partition("!/")[0]).name == name] for name in bad}
    assert {name: [item["code"] for item in items] for name, items in told.items() if not items} == {}
    for name, items in told.items():
        assert {item["code"] for item in items} <= bad[name], items
        assert all(name in item["message"] and "\n" not in item["message"] for item in items)
    assert (result["documents"], result["problems"]) == (2, 2)
    assert memory.peak_bytes < MOST_MEMORY_BYTES
    assert left_over(list(memory.seen.values()), within_s=5) == []
