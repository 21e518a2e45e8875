"""`re`, what the sandbox lacks of it: a replacement that is a function."""

import re
from typing import Any


def sub(pattern: Any, repl: Any, string: str, count: int = 0, flags: int = 0) -> str:
    if isinstance(repl, str):
        return re.sub(pattern, repl, string, count=count, flags=flags)
    parts, end, number = [], 0, 0
    for match in re.finditer(pattern, string, flags):
        if count and number == count:
            break
        parts.append(string[end : match.start()] + repl(match))
        end = match.end()
        number += 1  # noqa: SIM113
    return "".join(parts) + string[end:]
