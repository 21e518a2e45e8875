"""Recorded calls played again on the environments' own code, in a sandbox: never in our interpreter.

- `sandbox`: a worker process that reaches no file, no network and none of our objects, within limits.
- `lowering`, `classes`, `modules`: environment code, parsed and never run here, in the Python that the sandbox speaks.
- `play`, `compare`, `checks`: one trajectory's calls in order, each result beside the recorded one; its checks.
- What it lacks is a reason, and no verdict: operators of a class's own beyond reading and calling (`__len__`, `__lt__`,
  `__setitem__`), a decorator of a method that is the code's own, exceptions with a body, asynchronous code, IntEnum
  compared, `OrderedDict.move_to_end`, `dataclasses.replace`, `textwrap`, `str.maketrans`, and packages of others.
- `worlds`: the environments and scenarios of the sibling sets. `run`: all trajectories of a source, into tables.
"""

# Part of the key under which replays are kept: raise it when a verdict may change.
VERSION = "1"
