"""Which tools of an environment tasks need, and how often: a few in steady use, a tail, some never."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from random import Random

from analysis.sample.description import Entity
from analysis.sample.tools import Tool, ToolKind


@dataclass(frozen=True)
class Shelf:
    """The tools of one environment that tasks need, with how often; what is not among them is never needed."""

    tools: tuple[Tool, ...]
    weights: tuple[float, ...]

    @classmethod
    def of(cls, tools: Sequence[Tool], rng: Random) -> "Shelf":
        """A few tools in steady use and a long tail; one in seven is left on the shelf for good."""
        order = list(tools)
        rng.shuffle(order)
        kept = [tool for tool in order if tool.kind == "get" or rng.random() < 0.86]
        return cls(tuple(kept), tuple(1 / (rank + 2) ** 0.8 for rank in range(len(kept))))

    def draw(self, rng: Random, *, query: bool) -> Tool | None:
        """A query, or a change, as often as tasks need it; None where they need none."""
        chosen = [(t, w) for t, w in zip(self.tools, self.weights, strict=True) if t.is_query == query]
        if not chosen:
            return None
        return rng.choices([t for t, _ in chosen], cum_weights=list(accumulate(w for _, w in chosen)))[0]

    def find(self, kind: ToolKind, entity: Entity, to: str = "") -> Tool | None:
        """The tool of that kind on the entity; `to` names the entity a reference points to."""
        for tool in self.tools:
            if tool.kind == kind and tool.entity is entity and (not to or (tool.field and tool.field.to == to)):
                return tool
        return None
