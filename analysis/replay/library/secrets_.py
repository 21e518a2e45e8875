"""`secrets`: chance by the session's seed."""

import random
from typing import Any


def token_hex(nbytes: int = 32) -> str:
    return "".join([f"{random.getrandbits(8):02x}" for _ in range(nbytes)])


def token_urlsafe(nbytes: int = 32) -> str:
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    return "".join([random.choice(letters) for _ in range((nbytes * 4 + 2) // 3)])


def choice(sequence: Any) -> Any:
    return random.choice(sequence)


def randbelow(n: int) -> int:
    return random.randint(0, n - 1)


def randbits(k: int) -> int:
    return random.getrandbits(k)
