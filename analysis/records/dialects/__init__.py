"""The dialects that are read, in one list. To add one: a module with its `DIALECT`, a fixture, a line here."""

from analysis.records.dialects import alpaca, openai, release, runner, sharegpt
from analysis.records.dialects.dialect import Dialect

# The first that matches reads the record: the runner's has all the release's keys and more, openai's fewer.
DIALECTS: tuple[Dialect, ...] = (
    runner.DIALECT,
    release.DIALECT,
    sharegpt.DIALECT,
    alpaca.DIALECT,
    openai.DIALECT,
)
