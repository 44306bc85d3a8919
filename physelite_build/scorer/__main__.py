"""Command line of the scorer: `python -m scorer score` and `python -m scorer selfcheck`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from .files import BadFileError, read_gold, read_predictions
from .report import as_record, report_record, report_text, score_file
from .selfcheck import check_rows, selfcheck_record, selfcheck_text

EXIT_OK = 0
EXIT_USAGE = 2
EXIT_CHECK_FAILED = 4
DEFAULT_GOLD = Path(__file__).resolve().parent.parent / "answers.jsonl"

_EXAMPLES = """examples:
  python -m scorer score predictions.jsonl
  python -m scorer score predictions.jsonl --json -o details.jsonl
  python -m scorer selfcheck

Each line of the prediction file is {"id": "PE-000001", "response": "... the answer is 3.0 m/s"}.
exit codes: 0 done, 2 wrong usage or a broken input file, 4 the self-check failed
"""


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m scorer",
        description="Score answers to physics problems against the gold answers of this release.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    score = commands.add_parser(
        "score",
        help="score a prediction file",
        description="Score a prediction file and print accuracy and mean credit.",
        epilog="example:\n  python -m scorer score predictions.jsonl -o details.jsonl",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    score.add_argument("predictions", type=Path, metavar="PREDICTIONS.jsonl", help="lines with id and response")
    score.add_argument("-o", "--output", type=Path, metavar="DETAILS.jsonl", help="write one verdict a line here")
    check = commands.add_parser(
        "selfcheck",
        help="check that every gold answer equals itself and that wrong answers fail",
        description="Score the gold answers against themselves and against answers made wrong on purpose.",
        epilog="example:\n  python -m scorer selfcheck --json",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    for command in (score, check):
        command.add_argument(
            "--gold", type=Path, default=DEFAULT_GOLD, metavar="ANSWERS.jsonl", help="gold file of the release"
        )
        command.add_argument("--json", action="store_true", help="print the result as JSON")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    options = build_parser().parse_args(arguments)
    try:
        if options.command == "score":
            return _score(options.predictions, options.gold, options.output, as_json=options.json)
        return _selfcheck(options.gold, as_json=options.json)
    except BadFileError as error:
        sys.stderr.write(f"error: {error}\n")
        return EXIT_USAGE


def _score(predictions: Path, gold: Path, output: Path | None, *, as_json: bool) -> int:
    report = score_file(read_gold(gold), read_predictions(predictions))
    if output is not None:
        lines = [
            json.dumps({"id": s.row.problem_id, **as_record(s.verdict)}, ensure_ascii=False) for s in report.scored
        ]
        try:
            output.write_text("\n".join(lines) + "\n", encoding="utf-8")
        except OSError as error:
            raise BadFileError(f"{output}: the file cannot be written ({error.strerror or error}).") from error
    _write(json.dumps(report_record(report), ensure_ascii=False, indent=2) + "\n" if as_json else report_text(report))
    return EXIT_OK


def _selfcheck(gold: Path, *, as_json: bool) -> int:
    findings = check_rows(read_gold(gold))
    record = selfcheck_record(findings)
    _write(json.dumps(record, ensure_ascii=False, indent=2) + "\n" if as_json else selfcheck_text(findings))
    return EXIT_OK if record["ok"] else EXIT_CHECK_FAILED


def _write(text: str) -> None:
    """Write to stdout in UTF-8 whatever the locale says."""
    stream = getattr(sys.stdout, "buffer", None)
    if stream is None:
        sys.stdout.write(text)
        return
    sys.stdout.flush()
    stream.write(text.encode("utf-8"))
    stream.flush()


if __name__ == "__main__":
    sys.exit(main())
