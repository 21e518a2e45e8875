"""`uuid`: random ids, by the session's seed."""

import hashlib
import random
from typing import Any


class UUID:
    """An id of 128 bits: `hex` is its digits, `int` its number, `version` its kind."""

    def __init__(self, hex: Any = None, int: Any = None) -> None:
        given = f"{int:032x}" if hex is None else hex
        digits = given.replace("urn:", "").replace("uuid:", "").strip("{}").replace("-", "").lower()
        if len(digits) != 32:
            raise ValueError("badly formed hexadecimal UUID string")
        number = 0
        for digit in digits:
            place = "0123456789abcdef".find(digit)
            if place < 0:
                raise ValueError(f"invalid literal for int() with base 16: '{digits}'")
            number = number * 16 + place
        self.hex = digits
        self.int = number
        self.version = "0123456789abcdef".find(digits[12])

    def __str__(self) -> str:
        return f"{self.hex[:8]}-{self.hex[8:12]}-{self.hex[12:16]}-{self.hex[16:20]}-{self.hex[20:]}"

    def __repr__(self) -> str:
        return f"UUID('{self!s}')"

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, UUID) and self.hex == other.hex

    def __hash__(self) -> Any:
        return hash(self.hex)


def _versioned(digits: str, version: str) -> UUID:
    variant = "89ab"["0123456789abcdef".find(digits[16]) % 4]
    return UUID(f"{digits[:12]}{version}{digits[13:16]}{variant}{digits[17:]}")


def uuid4() -> UUID:
    """An id of chance."""
    return _versioned(f"{random.getrandbits(128):032x}", "4")


def uuid1() -> UUID:
    """An id of the clock, in truth of chance: no clock says which machine it was."""
    return _versioned(f"{random.getrandbits(128):032x}", "1")


def uuid5(namespace: UUID, name: str) -> UUID:
    """The id of a name in a namespace."""
    return _versioned(hashlib.sha1(bytes.fromhex(namespace.hex) + name.encode()).hexdigest()[:32], "5")


NAMESPACE_DNS = UUID("6ba7b810-9dad-11d1-80b4-00c04fd430c8")
NAMESPACE_URL = UUID("6ba7b811-9dad-11d1-80b4-00c04fd430c8")
