"""The command line: parses and prints, decides nothing. Results go to stdout, progress and messages to stderr.

Exit codes: 0 good, 1 unexpected error, 2 wrong usage, 3 finished with failed items, 4 a check failed, 130 interrupted.
"""

from physelite_build.cli import bench, corpus, installation, models, release
from physelite_build.cli.app import app
from physelite_build.cli.app import run as main

__all__ = ["app", "bench", "corpus", "installation", "main", "models", "release"]
