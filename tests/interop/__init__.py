"""Scripts that run in environments of their own, with the trainers' real packages; see test_interop.py."""
