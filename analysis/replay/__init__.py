"""Recorded calls played again on the environments' own code, in a sandbox: never in our interpreter.

- `sandbox`: a worker process that reaches no file, no network and none of our objects, within limits.
- `lowering`, `classes`, `modules`: environment code, parsed and never run here, in the Python that the sandbox speaks.
- `play`, `compare`, `checks`: one trajectory's calls in order, each result beside the recorded one; its checks.
- `worlds`: the environments and scenarios of the sibling sets. `run`: all trajectories of a source, into tables.
"""

# Part of the key under which replays are kept: raise it when a verdict may change.
VERSION = "1"
