"""The dialects that are read, in one list. To add one: a module with its `DIALECT`, a fixture, a line here.

Libraries that read a form themselves were weighed for each, and none is taken: they run agents, and bring what that
needs to read some JSON. With their requirements inspect_ai is 80 packages, agentdojo 72, mini-swe-agent 82,
LLaMA-Factory 129, ms-swift 139; harbor (ATIF) asks for a later Python than ours; OpenHands and SWE-agent cannot be
installed from the registry as published; agent-data-protocol is not in it. openai-harmony is 6, and would be the one to
take for texts in that template.
"""

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
