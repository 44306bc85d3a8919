"""Open a release with nothing but ``datasets``, as a stranger's program would, and print what is wrong as JSON.

``verify.py`` runs this file in a process of its own, without network and with an empty cache. It imports nothing of ours.
"""

from __future__ import annotations

import json
import sys
from typing import Any

CODES = {"load": "release.does_not_load", "image": "release.bad_image", "id": "release.repeated_id"}


def problems_of(folder: str, wanted: list[dict[str, Any]], cache: str) -> list[dict[str, str]]:
    """List what a reader would trip over.

    Args:
        folder: Release folder.
        wanted: Expected ``{"config", "split", "rows"}`` entries of the manifest.
        cache: Empty folder for the cache of ``datasets``.

    Returns:
        Entries ``{"where", "code", "message"}``; empty if all is well.
    """
    from datasets import ClassLabel, load_dataset

    found = []
    for part in wanted:
        where = f"{part['config']}/{part['split']}"
        try:
            data = load_dataset(folder, part["config"], split=part["split"], cache_dir=cache)
        except Exception as error:  # noqa: BLE001 - whatever a reader meets is the finding
            message = f"{type(error).__name__}: {error}"
            found.append({"where": where, "code": CODES["load"], "message": f"does not load ({message[:300]})"})
            continue
        if len(data) != part["rows"]:
            message = f"holds {len(data)} rows, the manifest says {part['rows']}"
            found.append({"where": where, "code": CODES["load"], "message": message})
        if not isinstance(data.features["subject"], ClassLabel):
            found.append({"where": where, "code": CODES["load"], "message": "subject is no class label any more"})
        ids = data["id"][:]
        if len(set(ids)) < len(ids):
            found.append({"where": where, "code": CODES["id"], "message": "a public id occurs twice"})
        found += _image_problems(where, data)
    return found


def _image_problems(where: str, data: Any) -> list[dict[str, str]]:
    import io

    from datasets import Image, List
    from PIL import Image as Pictures

    found = []
    raw = data.select_columns(["id", "diagrams"]).cast_column("diagrams", List(Image(decode=False)))
    for row in raw:
        for number, picture in enumerate(row["diagrams"], start=1):
            try:
                if picture is None or not picture["bytes"]:
                    raise ValueError("the file holds no bytes for it")
                with Pictures.open(io.BytesIO(picture["bytes"])) as opened:
                    opened.load()
            except (OSError, ValueError, SyntaxError) as error:
                message = f"figure {number} of {row['id']} cannot be decoded ({error})"
                found.append({"where": where, "code": CODES["image"], "message": message})
    return found


if __name__ == "__main__":
    release, expected, empty_cache = sys.argv[1:]
    sys.stdout.write(json.dumps(problems_of(release, json.loads(expected), empty_cache)))
