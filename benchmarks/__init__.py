"""What is timed, against what: see benchmarks/README.md."""
