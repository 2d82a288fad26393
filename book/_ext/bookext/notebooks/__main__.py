"""Command line: write every chapter as a notebook."""

import argparse
from pathlib import Path

from bookext.notebooks import __doc__ as about
from bookext.notebooks import write

parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("folder", type=Path, help="where to write, with the folders of book/")
parser.add_argument("--student", action="store_true", help="leave the solutions out")
options = parser.parse_args()
print(*write(options.folder, options.student), sep="\n")
