"""What is timed, against what: see benchmarks/README.md."""

import os

# Timed as people have it: modules are compiled once and kept, not in each process anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
