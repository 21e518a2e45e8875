"""How many mutants of the measures the tests kill: all of them, one module's, or a seeded sample of every module's.

`python -m tests.measures.mutants MUTMUT` with the interpreter that has mutmut, from the project's root; `make mutants`
sees to both. mutmut mutates what stands in functions, in a copy of the project in mutants/. Every mutant asked for is
tried anew, for the tests may be better ones; `--resume` goes on where a run of all was stopped.

A mutant is killed when a test fails, or when the module or its tests can no longer be imported. One that ran out of
time is told apart and not counted as killed; one that no test reaches counts as alive, and so does an equivalent one,
which no test could tell from the original.
"""

import argparse
import os
import random
import re
import subprocess
from collections import Counter, defaultdict
from pathlib import Path

from scipy.stats import binomtest

ROOT = Path(__file__).resolve().parent.parent.parent
# Any few mutants: mutmut makes all of them, and learns which test reaches which function, before it runs the first.
FIRST = "analysis.measures.calls.x_trajectory_key__mutmut_1"
# What mutmut calls it when pytest could not collect: a table that a mutant keeps from being made, for one.
UNIMPORTABLE = "check was interrupted by user"


def module(mutant: str) -> str:
    """The module of analysis/measures a mutant lies in."""
    return mutant.split(".")[2]


def stratified(mutants: list[str], size: int, seed: int) -> list[str]:
    """About `size` mutants, the same share of each module's, at least one."""
    strata: dict[str, list[str]] = defaultdict(list)
    for mutant in sorted(mutants):
        strata[module(mutant)].append(mutant)
    draw = random.Random(seed)
    share = min(1.0, size / len(mutants))
    return [name for stratum in strata.values() for name in draw.sample(stratum, max(1, round(share * len(stratum))))]


def summary(verdicts: dict[str, str]) -> str:
    """One line a module and one for all: killed of tried, the share, its 95 % Wilson interval; then who is alive."""
    counted: dict[str, Counter[str]] = defaultdict(Counter)
    for mutant, verdict in verdicts.items():
        for name in (module(mutant), "all"):
            counted[name][verdict] += 1
    lines = [_line(name, counted[name]) for name in sorted(counted, key=lambda name: (name == "all", name))]
    alive = sorted(f"{verdict}: {mutant}" for mutant, verdict in verdicts.items() if verdict != "killed")
    return "\n".join([*alive, "", *lines])


def _line(name: str, verdicts: Counter[str]) -> str:
    killed, tried = verdicts["killed"], verdicts.total()
    ends = binomtest(killed, tried).proportion_ci(method="wilson")
    others = "".join(f", {n} {verdict}" for verdict, n in sorted(verdicts.items()) if verdict != "killed")
    rate = f"{killed / tried:6.1%} ({ends.low:.1%} to {ends.high:.1%})"
    return f"{name:16} {killed:5} of {tried:5} killed {rate}{others}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("python", help="the interpreter that has mutmut")
    parser.add_argument("--module", default="", help="the measures of this name alone")
    parser.add_argument("--sample", type=int, default=0, help="about so many mutants in place of all")
    parser.add_argument("--seed", type=int, default=0, help="which sample")
    parser.add_argument("--resume", action="store_true", help="leave the mutants alone that were tried before")
    parser.add_argument("--workers", type=int, default=2, help="mutants tried at a time")
    given = parser.parse_args()

    mutmut = [given.python, "-m", "mutmut"]

    def run(*mutants: str) -> None:
        environment = {
            **os.environ,
            # Two mutants at a time use two cores better than one with two threads.
            "POLARS_MAX_THREADS": "1",
            # Looking for plugins, and compiling the tests anew, takes several times as long as most mutants do.
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTHONDONTWRITEBYTECODE": "",
        }
        command = [*mutmut, "run", "--max-children", str(given.workers), *mutants]
        subprocess.run(command, cwd=ROOT, env=environment, check=True)

    def verdicts() -> dict[str, str]:
        told = subprocess.run(
            [*mutmut, "results", "--all", "true"], cwd=ROOT, capture_output=True, text=True, check=True
        )
        pairs = re.findall(r"^\s*(analysis\.measures\.\S+): (.+)$", told.stdout, re.MULTILINE)
        return {
            mutant: "killed" if verdict == UNIMPORTABLE else verdict
            for mutant, verdict in pairs
            if module(mutant) == (given.module or module(mutant))
        }

    run(FIRST)
    wanted = list(verdicts())
    if not wanted:
        parser.error(f"no mutants in analysis/measures/{given.module}.py: is that the module's name?")
    if given.sample:
        wanted = stratified(wanted, given.sample, given.seed)
        run(*wanted)
    else:
        # mutmut tries anew what it is given by name, and without a name only what it knows no verdict of.
        run(*([] if given.resume else [f"analysis.measures.{given.module or '*'}.*"]))
    found = verdicts()
    print(summary({mutant: found[mutant] for mutant in wanted}))


if __name__ == "__main__":
    main()
