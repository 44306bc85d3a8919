"""Which documents are found in files, folders and zips."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path

import pytest
from PIL import Image

from physelite_build.stages.discover.documents import Discovery, discover
from physelite_build.stages.ingest.decode import IngestOptions

PDF = b"%PDF-1.4\n1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\n%%EOF\n"


def picture(kind: str = "PNG", *, frames: int = 1) -> bytes:
    """Return a tiny picture file."""
    stream = io.BytesIO()
    page = Image.new("L", (8, 8), 255)
    more = {"save_all": True, "append_images": [page] * (frames - 1)} if frames > 1 else {}
    page.save(stream, kind, **more)
    return stream.getvalue()


def zipped(members: dict[str, bytes]) -> bytes:
    """Return a zip with the given members."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return stream.getvalue()


def lay(root: Path, files: dict[str, bytes]) -> Path:
    """Write files below a folder."""
    for name, data in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return root


def found(discovery: Discovery) -> dict[str, list[str]]:
    """Return file names by document id."""
    return {document.doc_id: [file.name for file in document.files] for document in discovery.documents}


def codes(discovery: Discovery) -> dict[str, str]:
    """Return problem codes by name."""
    return {problem.name: problem.code for problem in discovery.problems}


def test_folder_with_one_pdf_is_one_document_named_like_the_folder(tmp_path: Path) -> None:
    assert found(discover([lay(tmp_path / "in", {"2019/paper.pdf": PDF})])) == {"2019": ["2019/paper.pdf"]}


def test_folder_of_page_images_is_one_document_in_natural_order(tmp_path: Path) -> None:
    names = ["p10.png", "p2.png", "p1.png", "p3.tif"]
    root = lay(tmp_path / "exam", {name: picture("TIFF" if name.endswith("tif") else "PNG") for name in names})
    assert found(discover([root])) == {"exam": ["p1.png", "p2.png", "p3.tif", "p10.png"]}


def test_several_pdfs_are_documents_named_by_their_stems(tmp_path: Path) -> None:
    root = lay(tmp_path / "in", {"b.pdf": PDF, "a.pdf": PDF, "c.tif": picture("TIFF", frames=2)})
    assert found(discover([root])) == {"a": ["a.pdf"], "b": ["b.pdf"], "c": ["c.tif"]}


def test_images_beside_a_pdf_are_a_document_named_like_the_folder(tmp_path: Path) -> None:
    root = lay(tmp_path / "in", {"key.pdf": PDF, "1.png": picture(), "2.png": picture()})
    assert found(discover([root])) == {"in": ["1.png", "2.png"], "key": ["key.pdf"]}


def test_each_folder_is_judged_on_its_own(tmp_path: Path) -> None:
    root = lay(tmp_path / "in", {"a/x.pdf": PDF, "a/deep/1.png": picture(), "b/y.pdf": PDF, "b/z.pdf": PDF})
    assert found(discover([root])) == {"deep": ["a/deep/1.png"], "a": ["a/x.pdf"], "y": ["b/y.pdf"], "z": ["b/z.pdf"]}


def test_single_file_is_a_document_named_by_its_stem(tmp_path: Path) -> None:
    root = lay(tmp_path / "in", {"x.pdf": PDF, "y.png": picture()})
    assert found(discover([root / "y.png", root / "x.pdf"])) == {"y": ["y.png"], "x": ["x.pdf"]}


def test_file_met_twice_is_taken_once(tmp_path: Path) -> None:
    root = lay(tmp_path / "in", {"a/x.pdf": PDF, "b/y.pdf": PDF})
    assert list(found(discover([root / "a", root, root]))) == ["a", "b"]


def test_same_names_get_the_name_above_in_front(tmp_path: Path) -> None:
    root = lay(tmp_path / "in", {"apho/2019/a.pdf": PDF, "ipho/2019/b.pdf": PDF, "other/c.pdf": PDF})
    assert list(found(discover([root]))) == ["apho/2019", "ipho/2019", "other"]


def test_ids_that_still_clash_get_numbers(tmp_path: Path) -> None:
    root = lay(tmp_path / "in", {"a/x/2019/a.pdf": PDF, "b/x/2019/b.pdf": PDF, "c/x/2019/c.pdf": PDF})
    assert list(found(discover([root]))) == ["x/2019", "x/2019-2", "x/2019-3"]


def test_texts_hidden_files_and_truth_are_passed_over(tmp_path: Path) -> None:
    ignored = ("README.md", "LICENSE", "LICENSE-MIT", "notes.txt", "expected.json", ".hidden.png", ".git/a.png")
    files = dict.fromkeys((*ignored, "truth/page.png", "truth.json"), picture())
    result = discover([lay(tmp_path / "in", {**files, "1.png": picture()})])
    assert found(result) == {"in": ["1.png"]}
    assert result.problems == ()


def test_unknown_binary_type_is_listed_as_unsupported(tmp_path: Path) -> None:
    root = lay(
        tmp_path / "in", {"a.pdf": PDF, "paper.docx": zipped({"[Content_Types].xml": b"x"}), "old.gif": b"GIF89a"}
    )
    result = discover([root])
    assert codes(result) == {"old.gif": "source.unsupported", "paper.docx": "source.unsupported"}
    assert list(found(result)) == ["in"]


def test_type_is_told_by_content_not_by_name(tmp_path: Path) -> None:
    root = lay(tmp_path / "in", {"1.pdf": picture(), "2.png": picture("JPEG"), "3": picture("WEBP")})
    documents = discover([root]).documents
    assert [file.media_type for file in documents[0].files] == ["image/png", "image/jpeg", "image/webp"]


def test_scan_name_without_known_content_is_a_failure(tmp_path: Path) -> None:
    root = lay(tmp_path / "in", {"1.png": b"no picture at all", "2.png": picture(), "3.png": b""})
    result = discover([root])
    assert codes(result) == {"1.png": "source.unknown_type", "3.png": "source.empty"}
    assert found(result) == {"in": ["2.png"]}


def test_mending_a_broken_file_renames_no_document(tmp_path: Path) -> None:
    root = lay(tmp_path / "in", {"a.pdf": PDF, "b.pdf": b"broken"})
    assert list(found(discover([root]))) == ["a"]
    (root / "b.pdf").write_bytes(PDF)
    assert list(found(discover([root]))) == ["a", "b"]


def test_notes_beside_scans_belong_to_the_document(tmp_path: Path) -> None:
    notes = 'title = "初赛"\nyear = 2019\nrights = "CC0-1.0"\n'.encode()
    documents = discover([lay(tmp_path / "in", {"a.pdf": PDF, "source.toml": notes})]).documents
    assert (documents[0].notes.title, documents[0].notes.year, documents[0].notes.rights) == ("初赛", 2019, "CC0-1.0")


@pytest.mark.parametrize("notes", [b'titel = "x"', b"title = ", b'language = "fr"', b"\xff\xfe", b"#" * 70_000])
def test_bad_notes_are_a_problem_and_the_document_stays(tmp_path: Path, notes: bytes) -> None:
    result = discover([lay(tmp_path / "in", {"a.pdf": PDF, "source.toml": notes})])
    assert codes(result) == {"source.toml": "source.bad_notes"}
    assert list(found(result)) == ["in"]


def test_zip_is_judged_like_a_folder_with_its_stem_as_name(tmp_path: Path) -> None:
    members = {"b.png": picture(), "a.png": picture(), "sub/x.pdf": PDF, "__MACOSX/._a.png": b"x"}
    result = discover([lay(tmp_path / "in", {"exam.zip": zipped(members), "lone.pdf": PDF})])
    assert found(result) == {
        "exam": ["exam.zip!/a.png", "exam.zip!/b.png"],
        "sub": ["exam.zip!/sub/x.pdf"],
        "lone": ["lone.pdf"],
    }
    assert result.problems == ()


def test_zip_members_are_read_by_position(tmp_path: Path) -> None:
    pages = {f"{name}.png": picture("JPEG" if name == "b" else "PNG") for name in "ab"}
    documents = discover([lay(tmp_path / "in", {"exam.zip": zipped(pages)})]).documents
    assert [file.read(IngestOptions()) for file in documents[0].files] == list(pages.values())


def test_member_names_never_lead_out_of_the_zip(tmp_path: Path) -> None:
    members = {"../../evil.png": picture(), "/etc/passwd.png": picture(), "a\\..\\b.png": picture()}
    result = discover([lay(tmp_path / "in", {"e.zip": zipped(members)})])
    names = [file.name for document in result.documents for file in document.files]
    assert sorted(names) == ["e.zip!/a/b.png", "e.zip!/etc/passwd.png", "e.zip!/evil.png"]
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["e.zip", "in"]


def test_names_of_old_chinese_zips_are_readable(tmp_path: Path) -> None:
    data = zipped({"ab.png": picture()}).replace(b"ab.png", "题.png".encode("gb18030"))
    result = discover([lay(tmp_path / "in", {"e.zip": data})])
    assert found(result) == {"e": ["e.zip!/题.png"]}


def test_nested_zip_is_refused_and_its_neighbours_stay(tmp_path: Path) -> None:
    inner = zipped({"x.png": picture()})
    result = discover([lay(tmp_path / "in", {"e.zip": zipped({"a.png": picture(), "in.zip": inner, "b.pdf": inner})})])
    assert codes(result) == {"e.zip!/b.pdf": "source.nested_zip", "e.zip!/in.zip": "source.nested_zip"}
    assert found(result) == {"e": ["e.zip!/a.png"]}


def test_encrypted_member_is_refused(tmp_path: Path) -> None:
    data = bytearray(zipped({"a.png": picture(), "b.png": picture()}))
    entry = data.find(b"PK\x01\x02")
    data[entry + 8] |= 1
    result = discover([lay(tmp_path / "in", {"e.zip": bytes(data)})])
    assert codes(result) == {"e.zip!/a.png": "source.encrypted"}
    assert found(result) == {"e": ["e.zip!/b.png"]}


def test_zip_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    root = lay(tmp_path / "in", {"e.zip": zipped({"a.bmp": bytes(60_000_000), "b.png": picture()})})
    assert codes(discover([root])) == {"e.zip!/a.bmp": "source.zip_bomb"}


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (IngestOptions(max_zip_members=2), "source.too_many_members"),
        (IngestOptions(max_zip_bytes=100), "source.zip_bomb"),
    ],
)
def test_zip_over_a_limit_is_refused(tmp_path: Path, options: IngestOptions, code: str) -> None:
    root = lay(tmp_path / "in", {"e.zip": zipped({f"{n}.png": picture() for n in range(3)})})
    assert codes(discover([root], options=options)) == {"e.zip": code}


def test_huge_zip_directory_is_not_loaded(tmp_path: Path) -> None:
    data = bytearray(zipped({"a.png": picture()}))
    end = data.rfind(b"PK\x05\x06")
    data[end + 12 : end + 16] = (400_000_000).to_bytes(4, "little")
    assert codes(discover([lay(tmp_path / "in", {"e.zip": bytes(data)})])) == {"e.zip": "source.too_many_members"}


def test_truncated_zip_is_damaged(tmp_path: Path) -> None:
    data = zipped({"a.png": picture()})
    assert codes(discover([lay(tmp_path / "in", {"e.zip": data[:-30]})])) == {"e.zip": "source.damaged"}


def test_member_with_a_wrong_checksum_is_damaged(tmp_path: Path) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("a.png", picture())
    data = stream.getvalue().replace(b"IDAT", b"IDAU")
    files = discover([lay(tmp_path / "in", {"e.zip": data, "b.png": picture()})])
    assert codes(files) == {"e.zip!/a.png": "source.damaged"}


@pytest.mark.parametrize("name", ["第1题 $(rm -rf).png", "a\nb.png", "-rf.png", "a'\";b.png", "ﬁ é.png"])
def test_hostile_file_names_are_only_names(tmp_path: Path, name: str) -> None:
    result = discover([lay(tmp_path / "in", {name: picture()}) / name])
    assert found(result)[result.documents[0].doc_id] == [name]
    assert result.documents[0].files[0].read(IngestOptions()) == picture()


def test_ids_are_one_printable_line_that_is_no_option(tmp_path: Path) -> None:
    root = lay(tmp_path / "in", {"a\nb.pdf": PDF, "-rf.pdf": PDF, "第1题 $(rm -rf).pdf": PDF})
    assert set(found(discover([root]))) == {"a_b", "_rf", "第1题 $(rm -rf)"}


def test_names_that_are_no_text_can_be_stored(tmp_path: Path) -> None:
    root = lay(tmp_path / "in", {"ok.pdf": PDF})
    with open(os.fsencode(root) + b"/\xff.pdf", "wb") as stream:
        stream.write(PDF)
    result = discover([root])
    assert set(found(result)) == {"ok", "_xff"}
    assert [name.encode() for names in found(result).values() for name in names]


def test_loop_of_links_ends(tmp_path: Path) -> None:
    root = lay(tmp_path / "in", {"a/x.pdf": PDF})
    (root / "a" / "loop").symlink_to(root, target_is_directory=True)
    (root / "self").symlink_to(root / "self")
    result = discover([root])
    assert found(result) == {"a": ["a/x.pdf"]}
    assert codes(result) == {"self": "source.unreadable"}


def test_linked_folder_is_walked(tmp_path: Path) -> None:
    lay(tmp_path / "nas", {"1.png": picture()})
    root = lay(tmp_path / "in", {"a/x.pdf": PDF})
    (root / "2019").symlink_to(tmp_path / "nas", target_is_directory=True)
    assert found(discover([root])) == {"2019": ["2019/1.png"], "a": ["a/x.pdf"]}


def test_pipe_does_not_hang(tmp_path: Path) -> None:
    root = lay(tmp_path / "in", {"a.pdf": PDF})
    os.mkfifo(root / "b.pdf")
    assert codes(discover([root])) == {"b.pdf": "source.unreadable"}


def test_unreadable_folder_is_a_problem_and_others_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = lay(tmp_path / "in", {"a/x.pdf": PDF, "b/y.pdf": PDF})
    real = os.scandir

    def scandir(path: Path) -> object:  # the tests may run as root, whom no folder refuses
        if path.name == "b":
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    result = discover([root])
    assert (list(found(result)), codes(result)) == (["a"], {"b": "source.unreadable"})


def test_missing_path_is_a_problem(tmp_path: Path) -> None:
    assert codes(discover([tmp_path / "nowhere"])) == {"nowhere": "source.missing"}


def test_too_large_file_is_a_problem(tmp_path: Path) -> None:
    root = lay(tmp_path / "in", {"a.pdf": PDF})
    assert codes(discover([root], options=IngestOptions(max_file_bytes=20))) == {"a.pdf": "source.too_large"}


def test_order_does_not_depend_on_the_order_of_creation(tmp_path: Path) -> None:
    names = ["b/1.pdf", "a10/1.pdf", "a2/1.pdf"]
    one = lay(tmp_path / "1" / "in", dict.fromkeys(names, PDF))
    two = lay(tmp_path / "2" / "in", dict.fromkeys(reversed(names), PDF))
    assert list(found(discover([one]))) == list(found(discover([two]))) == ["a2", "a10", "b"]
