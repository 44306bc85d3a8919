"""What page images a file of each kind gives, whole and broken."""

from __future__ import annotations

import contextlib
import io
import random
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw

from physelite_build.blobs import Blobs
from physelite_build.errors import ItemError
from physelite_build.stages.ingest.read_source import Decoded, IngestOptions, read_source


@pytest.fixture
def blobs(tmp_path: Path) -> Blobs:
    return Blobs(tmp_path / "blobs")


def read(data: bytes, blobs: Blobs, *, name: str = "scan", **options: int) -> Decoded:
    return read_source(data, name=name, blobs=blobs, options=IngestOptions(**options))


def only_image(decoded: Decoded, blobs: Blobs) -> np.ndarray:
    """Return the one page as stored, with its own number of channels."""
    (page,) = decoded.pages.images
    with Image.open(blobs.path(page.sha256)) as picture:
        stored = np.asarray(picture)
    assert stored.shape[:2] == (page.height_px, page.width_px)
    return stored


def saved(picture: Image.Image, kind: str, **more: object) -> bytes:
    stream = io.BytesIO()
    picture.save(stream, kind, **more)
    return stream.getvalue()


def corner(mode: str = "RGB", *, size: tuple[int, int] = (40, 60), colour: str = "red") -> Image.Image:
    """Return a white page whose top left quarter has a colour."""
    page = Image.new("RGB", size, "white")
    ImageDraw.Draw(page).rectangle((0, 0, size[0] // 2 - 1, size[1] // 2 - 1), fill=colour)
    return page.convert(mode)


def noise(*, size: tuple[int, int] = (200, 200)) -> Image.Image:
    """Return a picture that does not compress, so that a cut falls into its pixels."""
    return Image.frombytes("L", size, random.Random(0).randbytes(size[0] * size[1]))


def pdf(
    *contents: bytes,
    extra: bytes = b"",
    kids: bytes | None = None,
    size: bytes = b"0 0 144 216",
) -> bytes:
    """Return a PDF with one page for each content stream, written by hand."""
    count = len(kids.split(b"R")) - 1 if kids else len(contents)
    listed = kids or b" ".join(b"%d 0 R" % (3 + 2 * index) for index in range(count))
    objects = [b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Count %d/Kids[%s]>>" % (count, listed)]
    for index, content in enumerate(contents):
        page = b"<</Type/Page/Parent 2 0 R/MediaBox[%s]/Contents %d 0 R%s>>" % (
            size,
            4 + 2 * index,
            extra,
        )
        objects += [
            page,
            b"<</Length %d>>stream\n%s\nendstream" % (len(content), content),
        ]
    body, places = b"%PDF-1.7\n", []
    for number, item in enumerate(objects, start=1):
        places.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, item)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size_entry = len(objects) + 1
    return body + b"xref\n0 %d\n0000000000 65535 f \n%strailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (
        size_entry,
        table,
        size_entry,
        len(body),
    )


TOP_LEFT = b"1 0 0 rg 0 108 72 108 re f"


def code_of(data: bytes, blobs: Blobs, **options: int) -> str:
    with pytest.raises(ItemError) as caught:
        read(data, blobs, name="第1题 $(rm -rf).png", **options)
    assert "第1题 $(rm -rf).png" in caught.value.message
    return caught.value.code


# ---------------------------------------------------------------- rasters
@pytest.mark.parametrize("kind", ["PNG", "TIFF", "WEBP", "BMP"])
def test_colour_page_is_stored_as_a_viewer_shows_it(blobs: Blobs, kind: str) -> None:
    more = {"lossless": True} if kind == "WEBP" else {}
    decoded = read(saved(corner(), kind, **more), blobs)
    assert decoded.pages.media_type == f"image/{kind.lower()}"
    np.testing.assert_array_equal(only_image(decoded, blobs), np.asarray(corner()))


def test_jpeg_page_is_decoded(blobs: Blobs) -> None:
    image = only_image(read(saved(corner(), "JPEG", quality=95), blobs), blobs)
    assert np.abs(image.astype(int) - np.asarray(corner())).mean() < 3


@pytest.mark.parametrize("mode", ["1", "L", "RGB", "P"])
def test_page_without_colour_is_stored_grey(blobs: Blobs, mode: str) -> None:
    page = corner(mode, colour="black")
    image = only_image(read(saved(page, "PNG"), blobs), blobs)
    np.testing.assert_array_equal(image, np.asarray(page.convert("L")))


def test_fax_pages_keep_their_order(blobs: Blobs) -> None:
    pages = [corner("1", size=(40 + 8 * index, 60), colour="black") for index in range(3)]
    data = saved(pages[0], "TIFF", save_all=True, append_images=pages[1:], compression="group4", dpi=(200, 200))
    images = read(data, blobs).pages.images
    assert [(image.frame, image.width_px) for image in images] == [(1, 40), (2, 48), (3, 56)]
    np.testing.assert_array_equal(blobs.get_image(images[2].sha256)[:, :, 0], np.asarray(pages[2].convert("L")))


def test_fax_with_flat_pixels_is_stretched(blobs: Blobs) -> None:
    data = saved(corner("1", size=(864, 541), colour="black"), "TIFF", compression="group4", dpi=(204, 98))
    (image,) = read(data, blobs).pages.images
    assert (image.width_px, image.height_px, image.dpi) == (864, 1126, 204)


def test_thumbnail_in_a_tiff_is_no_page(blobs: Blobs) -> None:
    from PIL.TiffImagePlugin import ImageFileDirectory_v2

    small = ImageFileDirectory_v2()
    small[254] = 1
    thumbnail = Image.new("L", (10, 10))
    thumbnail.encoderinfo = {"tiffinfo": small}
    data = saved(corner("L"), "TIFF", save_all=True, append_images=[thumbnail])
    assert [image.width_px for image in read(data, blobs).pages.images] == [40]


@pytest.mark.parametrize("bits", [8, 10, 12, 16])
@pytest.mark.parametrize("kind", ["PNG", "TIFF"])
def test_deep_grey_is_scaled_by_its_bit_depth(blobs: Blobs, bits: int, kind: str) -> None:
    full = 2**bits - 1
    values = np.array([[0, full // 2, full]], dtype=np.uint16)
    image = only_image(read(saved(Image.fromarray(values), kind), blobs), blobs)
    np.testing.assert_allclose(image, [[0, 127, 255]], atol=1)


def test_deep_grey_with_white_as_zero_is_turned_around(blobs: Blobs) -> None:
    picture = Image.fromarray(np.array([[0, 65535]], dtype=np.uint16))
    data = saved(picture, "TIFF").replace(
        struct.pack("<HHIHH", 262, 3, 1, 1, 0), struct.pack("<HHIHH", 262, 3, 1, 0, 0)
    )
    np.testing.assert_array_equal(only_image(read(data, blobs), blobs), [[255, 0]])


def test_deep_colour_is_reduced_to_8_bits(blobs: Blobs) -> None:
    row = b"\0" + struct.pack(">6H", 65535, 0, 0, 65535, 65535, 65535)
    header = struct.pack(">IIBBBBB", 2, 1, 16, 2, 0, 0, 0)
    image = only_image(read(png(header, zlib.compress(row)), blobs), blobs)
    np.testing.assert_array_equal(image, [[[255, 0, 0], [255, 255, 255]]])


def png(header: bytes, pixels: bytes) -> bytes:
    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def test_real_valued_tiff_is_scaled(blobs: Blobs) -> None:
    picture = Image.fromarray(np.array([[0.0, 0.5, 1.0, np.nan]], dtype=np.float32))
    np.testing.assert_array_equal(only_image(read(saved(picture, "TIFF"), blobs), blobs), [[0, 128, 255, 0]])


@pytest.mark.parametrize("kind", ["JPEG", "TIFF"])
def test_cmyk_page_looks_right(blobs: Blobs, kind: str) -> None:
    image = only_image(read(saved(corner("CMYK"), kind), blobs), blobs)
    assert np.abs(image.astype(int) - np.asarray(corner())).mean() < 8


@pytest.mark.parametrize("mode", ["RGBA", "LA"])
@pytest.mark.parametrize("kind", ["PNG", "TIFF"])
def test_transparent_page_lies_on_white(blobs: Blobs, mode: str, kind: str) -> None:
    page = Image.new("RGBA", (4, 4), (0, 0, 0, 0))
    page.putpixel((1, 1), (0, 0, 0, 255))
    image = only_image(read(saved(page.convert(mode), kind), blobs), blobs)
    assert (image[1, 1], image[0, 0], image.min(), image.mean()) == (0, 255, 0, 255 * 15 / 16)


def test_palette_with_transparency_lies_on_white(blobs: Blobs) -> None:
    page = Image.new("P", (4, 4), 0)
    page.putpalette([0, 0, 0, 255, 0, 0])
    page.putpixel((1, 1), 1)
    image = only_image(read(saved(page, "PNG", transparency=b"\x00\xff"), blobs), blobs)
    assert image[0, 0].tolist() == [255, 255, 255]
    assert image[1, 1].tolist() == [255, 0, 0]


@pytest.mark.parametrize("kind", ["PNG", "WEBP", "TIFF"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_exif_orientation_is_applied(blobs: Blobs, kind: str, orientation: int) -> None:
    undo = {2: 0, 3: 3, 4: 1, 5: 5, 6: 2, 7: 6, 8: 4}  # Transpose that lays the upright page down as a camera does
    upright = corner()
    lying = upright if orientation == 1 else upright.transpose(Image.Transpose(undo[orientation]))
    exif = Image.Exif()
    exif[0x0112] = orientation
    more = {"lossless": True} if kind == "WEBP" else {}
    image = only_image(read(saved(lying, kind, exif=exif, **more), blobs), blobs)
    np.testing.assert_array_equal(image, np.asarray(upright))


def test_broken_exif_does_not_cost_the_page(blobs: Blobs) -> None:
    data = saved(corner(), "JPEG", exif=b"Exif\0\0II*\0\xff\xff\xff\xffgarbage")
    assert only_image(read(data, blobs), blobs).shape == (60, 40, 3)


@pytest.mark.parametrize(
    ("dpi", "size", "expected"),
    [(200, (1654, 2339), 200), (72, (3000, 4000), None), (72, (595, 842), 72), (1, (1654, 2339), None)],
)
def test_resolution_is_recorded_if_such_a_sheet_exists(
    blobs: Blobs, dpi: int, size: tuple[int, int], expected: float | None
) -> None:
    data = saved(Image.new("1", size, 1), "PNG", dpi=(dpi, dpi))
    assert read(data, blobs).pages.images[0].dpi == expected


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "TIFF", "WEBP", "BMP"])
def test_truncated_picture_is_damaged(blobs: Blobs, kind: str) -> None:
    data = saved(noise(), kind)
    assert code_of(data[: len(data) * 2 // 3], blobs) == "source.damaged"


def test_truncated_header_is_damaged(blobs: Blobs) -> None:
    assert code_of(saved(corner(), "PNG")[:20], blobs) == "source.damaged"


@pytest.mark.parametrize("seed", range(60))
def test_garbled_picture_never_crashes(blobs: Blobs, seed: int) -> None:
    dice = random.Random(seed)
    kind = dice.choice(["PNG", "JPEG", "TIFF", "WEBP", "BMP"])
    data = bytearray(saved(corner(), kind))
    for _ in range(8):
        data[dice.randrange(4, len(data))] = dice.randrange(256)
    with contextlib.suppress(ItemError):
        read(bytes(data), blobs)


def test_damaged_frame_does_not_lose_its_neighbours(blobs: Blobs) -> None:
    pages = [noise() for _ in range(3)]
    data = bytearray(saved(pages[0], "TIFF", save_all=True, append_images=pages[1:], compression="tiff_lzw"))
    middle = len(data) // 2
    data[middle - 2000 : middle + 2000] = b"\xff" * 4000
    decoded = read(bytes(data), blobs)
    assert [image.frame for image in decoded.pages.images] == [1, 3]
    assert [(failure.frame, failure.code) for failure in decoded.failures] == [(2, "page.damaged")]


def test_tiff_cut_between_pages_reports_what_is_missing(blobs: Blobs) -> None:
    pages = [noise() for _ in range(3)]
    data = saved(pages[0], "TIFF", save_all=True, append_images=pages[1:])
    decoded = read(data[: len(data) // 2], blobs)
    assert [image.frame for image in decoded.pages.images] == [1]
    assert [failure.frame for failure in decoded.failures] == [2, 3]


def test_pixel_cap_is_checked_before_decoding(blobs: Blobs) -> None:
    header = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)  # 10 GB of pixels, no data for them
    assert code_of(png(header, b""), blobs) == "page.too_large"


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "TIFF", "WEBP", "BMP"])
def test_page_over_the_pixel_cap_is_too_large(blobs: Blobs, kind: str) -> None:
    assert code_of(saved(corner(), kind), blobs, max_pixels=2399) == "page.too_large"
    assert read(saved(corner(), kind), blobs, max_pixels=2400).failures == ()


def test_too_large_frame_does_not_lose_its_neighbours(blobs: Blobs) -> None:
    data = saved(corner("L"), "TIFF", save_all=True, append_images=[corner("L", size=(400, 400))])
    decoded = read(data, blobs, max_pixels=10_000)
    assert [failure.code for failure in decoded.failures] == ["page.too_large"]
    assert len(decoded.pages.images) == 1


def test_cap_above_the_one_of_pillow_is_honoured(blobs: Blobs) -> None:
    data = saved(Image.new("1", (9600, 9600), 1), "PNG")  # 92 million: Pillow warns at 89
    assert read(data, blobs, max_pixels=100_000_000).pages.images[0].width_px == 9600


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "source.empty"),
        (b"this is no picture", "source.unknown_type"),
        (b"GIF89a", "source.unknown_type"),
        (b"PK\x03\x04" + bytes(40), "source.nested_zip"),
    ],
)
def test_file_that_is_no_scan_is_refused(blobs: Blobs, data: bytes, code: str) -> None:
    assert code_of(data, blobs) == code


def test_file_over_the_limit_is_too_large(blobs: Blobs) -> None:
    assert code_of(saved(corner(), "PNG"), blobs, max_file_bytes=10) == "source.too_large"


def test_too_many_frames_are_refused(blobs: Blobs) -> None:
    data = saved(corner("L"), "TIFF", save_all=True, append_images=[corner("L")] * 3)
    assert code_of(data, blobs, max_pages=3) == "source.too_many_pages"


@pytest.mark.parametrize("kind", ["PDF", "TIFF", "JPEG"])
def test_same_input_gives_the_same_bytes(tmp_path: Path, kind: str) -> None:
    data = pdf(TOP_LEFT) if kind == "PDF" else saved(corner(), kind)
    first, second = (read(data, Blobs(tmp_path / name)) for name in "ab")
    assert first == second


# ---------------------------------------------------------------- PDF
def test_pdf_page_is_drawn_at_the_resolution_asked_for(blobs: Blobs) -> None:
    decoded = read(pdf(TOP_LEFT), blobs)
    (page,) = decoded.pages.images
    assert (page.width_px, page.height_px, page.dpi) == (400, 600, 200)
    image = only_image(decoded, blobs)
    assert image[100, 100].tolist() == [255, 0, 0]
    assert image[500, 300].tolist() == [255, 255, 255]


@pytest.mark.parametrize(("turn", "red"), [(0, (100, 100)), (90, (100, 500)), (180, (500, 300)), (270, (300, 100))])
def test_pdf_rotation_is_applied(blobs: Blobs, turn: int, red: tuple[int, int]) -> None:
    image = only_image(read(pdf(TOP_LEFT, extra=b"/Rotate %d" % turn), blobs), blobs)
    assert image.shape[:2] == ((600, 400) if turn in (0, 180) else (400, 600))
    assert image[red].tolist() == [255, 0, 0]


def test_pdf_annotation_is_drawn(blobs: Blobs) -> None:
    note = b"/Annots[<</Type/Annot/Subtype/Square/Rect[10 10 100 100]/F 4/IC[0 0 1]/C[0 0 1]>>]"
    image = only_image(read(pdf(b"", extra=note), blobs), blobs)
    assert image[450, 150].tolist() == [0, 0, 255]


def test_pdf_page_without_colour_is_stored_grey(blobs: Blobs) -> None:
    assert only_image(read(pdf(b"0 g 0 0 50 50 re f"), blobs), blobs).ndim == 2


def test_poster_is_drawn_at_a_lower_resolution(blobs: Blobs) -> None:
    (page,) = read(pdf(TOP_LEFT, size=b"0 0 14400 7200"), blobs).pages.images
    assert (page.width_px, page.height_px, page.dpi) == (4800, 2400, None)


def test_pdf_page_never_exceeds_the_pixel_cap(blobs: Blobs) -> None:
    (page,) = read(pdf(TOP_LEFT), blobs, max_pixels=60_000).pages.images
    assert page.width_px * page.height_px <= 60_000
    assert page.dpi is None


def test_bad_pdf_page_does_not_lose_its_neighbours(blobs: Blobs) -> None:
    decoded = read(pdf(TOP_LEFT, b"", TOP_LEFT, kids=b"3 0 R 99 0 R 7 0 R"), blobs)
    assert [image.frame for image in decoded.pages.images] == [1, 3]
    assert [(failure.frame, failure.code) for failure in decoded.failures] == [(2, "page.damaged")]


def test_encrypted_pdf_says_so(blobs: Blobs) -> None:
    entry = b"<</Filter/Standard/V 1/R 2/P -4/O<%s>/U<%s>>>" % (b"00" * 32, b"11" * 32)
    data = pdf(TOP_LEFT).replace(b"/Root 1 0 R>>", b"/Root 1 0 R/ID[<00><00>]/Encrypt %s>>" % entry)
    assert code_of(data, blobs) == "source.encrypted"


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
def test_truncated_pdf_is_damaged(blobs: Blobs, share: float) -> None:
    data = pdf(TOP_LEFT, TOP_LEFT)
    assert code_of(data[: int(data.rfind(b"endobj") * share)], blobs) == "source.damaged"


def test_pdf_without_pages_is_empty(blobs: Blobs) -> None:
    assert code_of(pdf(), blobs) == "source.empty"


def test_pdf_of_rubbish_is_damaged(blobs: Blobs) -> None:
    assert code_of(b"%PDF-1.7\nrubbish\n%%EOF", blobs) == "source.damaged"


def test_pdf_with_rubbish_around_it_is_read(blobs: Blobs) -> None:
    assert len(read(b"rubbish\n" + pdf(TOP_LEFT) + bytes(5000), blobs).pages.images) == 1


def test_pdf_with_too_many_pages_is_refused(blobs: Blobs) -> None:
    assert code_of(pdf(TOP_LEFT, TOP_LEFT), blobs, max_pages=1) == "source.too_many_pages"


def test_renamed_files_are_decoded_by_content(blobs: Blobs) -> None:
    assert read(saved(corner(), "PNG"), blobs, name="a.pdf").pages.media_type == "image/png"
    assert read(pdf(TOP_LEFT), blobs, name="a.png").pages.media_type == "application/pdf"


def test_options_key_changes_with_every_option() -> None:
    assert IngestOptions().key == IngestOptions(pdf_dpi=200).key != IngestOptions(pdf_dpi=150).key
