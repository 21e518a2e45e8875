"""The dialects that are read, in one list. To add one: a module with its `DIALECT`, a fixture, a line here."""

from analysis.records.dialects import (
    adp,
    agentdojo,
    alpaca,
    anthropic,
    atif,
    dpo,
    hermes,
    inspect_log,
    llamafactory,
    openai,
    openhands,
    release,
    responses,
    runner,
    sharegpt,
    swe_agent,
    tau2,
    tau_bench,
    toolace,
    toucan,
    wrapped,
    xlam,
)
from analysis.records.dialects.dialect import Dialect

# The first that matches reads the record, so the more a dialect asks for, the earlier it stands: the runner's has all
# the release's keys and more, and nearly every list of messages would pass for openai's.
DIALECTS: tuple[Dialect, ...] = (
    runner.DIALECT,
    release.DIALECT,
    atif.DIALECT,
    adp.DIALECT,
    openhands.DIALECT,
    swe_agent.DIALECT,
    tau_bench.DIALECT,
    xlam.DIALECT,
    alpaca.DIALECT,
    dpo.DIALECT,
    responses.DIALECT,
    tau2.DIALECT,
    agentdojo.DIALECT,
    inspect_log.DIALECT,
    anthropic.DIALECT,
    llamafactory.DIALECT,
    toucan.DIALECT,
    toolace.DIALECT,
    hermes.DIALECT,
    sharegpt.DIALECT,
    wrapped.DIALECT,
    openai.DIALECT,
)
