"""Play an environment: a world, and calls that read or change it by the description's rules.

What `call` returns is what the agent gets to see, as Python repr. A call that fails changes nothing.
"""

from typing import Any

from analysis.sample.arguments import checked
from analysis.sample.operations import OPERATIONS
from analysis.sample.state import Record, Refusal, Result, State, World

__all__ = ["Environment", "Record", "Result", "State"]


class Environment(World):
    """A world that answers calls."""

    def call(self, name: str, arguments: dict[str, Any]) -> Result:
        """Answer one call: `{'success': True, ...}`, or `{'success': False, 'error': ...}`."""
        try:
            tool = self.tools.get(name)
            if tool is None:
                raise Refusal(f"Unknown operation '{name}'")
            return {"success": True, **OPERATIONS[tool.kind](self, tool, checked(tool, arguments))}
        except Refusal as refusal:
            return {"success": False, "error": str(refusal)}
