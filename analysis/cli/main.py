"""Reads a command line, runs its subcommand, and ends with one line and an exit status whatever goes wrong."""

import argparse
import os
import stat
import sys
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from analysis import files, interrupts
from analysis.cli import card, check, export, replay, report, sample, streams, tables
from analysis.cli.shared import CANNOT_WRITE, COULD_NOT, INTERRUPTED, NOBODY_READS, complain, say

MODULE, SCRIPT = "python -m analysis", "trajectories"
COMMANDS: dict[str, ModuleType] = {
    "tables": tables,
    "export": export,
    "check": check,
    "card": card,
    "replay": replay,
    "sample": sample,
    "report": report,
}
# Options that name what is read.
SOURCES = ("source", "sources", "baseline", "environments", "scenarios")
EPILOG = """\
examples:
  python -m analysis report                                   the bundled sample -> reports/html/index.html
  python -m analysis report trajectories.json                 the same for your records
  python -m analysis tables trajectories.json out/            tables as Parquet, for any tool
  python -m analysis tables --describe                        what every table and column contains
  python -m analysis export trajectories.json out/ --format sharegpt --validation 0.1
  python -m analysis check trajectories.json --gate gate.toml
  python -m analysis card trajectories.json README.md         statistics of a dataset card
  python -m analysis replay trajectories.json out/ --environments envs.json --scenarios scenarios.json
  python -m analysis sample big.json --trajectories 9022 --environments 140 --seed 1
  python -m analysis COMMAND --help                           the options of a command, with examples

`trajectories` is the same command. Use it in a folder that contains an `analysis.py` or an `analysis` folder of your
own: there, `python -m analysis` runs yours.

Decoded tables are cached in $TRAJECTORY_CACHE (default: ~/.cache/trajectory-notebooks), so an unchanged source is not
decoded again.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a subcommand; a problem that the user can solve is one line on stderr."""
    words = sys.argv[1:] if arguments is None else arguments
    options = parse(words)
    try:
        _refuse_what_is_not_utf8(words, options)
        _tell_of_an_open_cache()
        with _silence(options):
            status: int = options.run(options)
        streams.flush()
    except _user_errors() as error:
        return complain(error, COULD_NOT)
    except UnicodeEncodeError as error:
        if error.object.isascii() or error.encoding != "utf-8":
            raise
        return complain(f"{error.object}: a name that is not UTF-8; rename the file or folder, or link it", COULD_NOT)
    except OSError as error:
        if isinstance(error, BrokenPipeError) and error.filename is None:
            # The reader has left, as `head` does: there is nobody to tell, and nothing went wrong here.
            streams.drop()
            return NOBODY_READS
        return complain(_cannot_write(error), CANNOT_WRITE)
    except KeyboardInterrupt:
        return complain("interrupted", INTERRUPTED)
    return status


def parse(words: Sequence[str]) -> argparse.Namespace:
    """Read a command line.

    Raises:
        SystemExit: it makes no sense (2), or asks for help or the version only (0).
    """
    parser, commands = _parser()
    name = next((word for word in words if not word.startswith("-")), "")
    if name and name not in commands:
        parser.error(f"no command {name!r}; {_hint(name, commands)}")
    if name:
        _refuse_unknown_options(commands[name], words)
    return parser.parse_args(list(report.pairs_apart(words)) if name == "report" else words)


def _parser() -> tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]:
    """The parser, and those of the subcommands by name."""
    program = SCRIPT if os.path.basename(sys.argv[0]) in (SCRIPT, f"{SCRIPT}.exe") else MODULE  # noqa: PTH119

    def page(epilog: str) -> dict[str, Any]:
        return {
            "epilog": epilog.replace(f"{MODULE} ", f"{program} "),
            "formatter_class": argparse.RawDescriptionHelpFormatter,
        }

    parser = argparse.ArgumentParser(
        program, description="Tables and reports of tool-use trajectories.", **page(EPILOG)
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True)
    commands = {}
    for name, module in COMMANDS.items():
        command = subparsers.add_parser(name, help=module.ABOUT, description=module.ABOUT, **page(module.EPILOG))
        command.set_defaults(run=module.run)
        module.add_options(command)
        commands[name] = command
    return parser, commands


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415

        try:
            streams.tell(f"trajectory-notebooks {version('trajectory-notebooks')}")
        except PackageNotFoundError:
            streams.tell("trajectory-notebooks, not installed: run from a checkout")
        parser.exit()


def _refuse_unknown_options(command: argparse.ArgumentParser, words: Sequence[str]) -> None:
    """Name the nearest option: argparse first complains of whatever else is missing.

    As argparse does, take the beginning of an option for the option.
    """
    options = [option for action in command._actions for option in action.option_strings if option.startswith("--")]
    for word in words[: words.index("--") if "--" in words else None]:
        name = word.partition("=")[0]
        if name.startswith("--") and " " not in word and not any(option.startswith(name) for option in options):
            command.error(f"no option {name}; {_hint(name, options)}")


def _hint(word: str, names: Iterable[str]) -> str:
    from analysis.nearest import hint  # noqa: PLC0415

    return hint(word, names)


def _refuse_what_is_not_utf8(words: Sequence[str], options: argparse.Namespace) -> None:
    """Names that neither Polars nor JSON can hold, in words or variables; a file that is read is read through a link.

    Raises:
        UnicodeEncodeError: one is there, and is no name of a source.
    """
    linked: dict[str, str] = {}
    for word in (*words, os.environ.get("TRAJECTORY_CACHE", "")):
        try:
            word.encode()
        except UnicodeEncodeError:
            from analysis.sources import readable  # noqa: PLC0415  Polars, which other names need not wait for

            if not os.path.exists(word):  # noqa: PTH110
                raise
            linked[word] = readable(word)
    for option, value in vars(options).items():
        if option in SOURCES and isinstance(value, list):
            setattr(options, option, [linked.get(name, name) for name in value])
        elif option in SOURCES:
            setattr(options, option, linked.get(value, value))
        elif str(value) in linked:  # what is written stays where it is
            str(value).encode()


def _tell_of_an_open_cache() -> None:
    """Who can write to the cache decides what is read from it."""
    folder = os.path.expanduser(os.environ.get("TRAJECTORY_CACHE") or "~/.cache/trajectory-notebooks")  # noqa: PTH111
    with suppress(OSError):
        found = Path(folder).stat()
        is_others = os.name == "posix" and found.st_uid not in {os.getuid(), 0}
        if is_others or (os.name == "posix" and found.st_mode & stat.S_IWOTH):
            say(f"{folder}: other users can write to this cache, and so change your results; TRAJECTORY_CACHE moves it")


def _silence(options: argparse.Namespace) -> AbstractContextManager[None]:
    """With --quiet, no bar of anything below is shown."""
    if not getattr(options, "quiet", False):
        return nullcontext()
    from analysis.processes import environment  # noqa: PLC0415

    return environment(TQDM_DISABLE="1")


def _user_errors() -> tuple[type[Exception], ...]:
    """Errors of the source or of its tables. They come with Polars, so they are imported only after an error."""
    from analysis.replay.sandbox import MissingSandboxError  # noqa: PLC0415
    from analysis.schema import SchemaError  # noqa: PLC0415
    from analysis.sources import SourceError  # noqa: PLC0415

    return MissingSandboxError, SchemaError, SourceError


def _cannot_write(error: OSError) -> str:
    where = f"{error.filename}: " if error.filename else ""
    return f"{where}{error.strerror or error}{_remedy(error)}"


def _remedy(error: OSError) -> str:
    from analysis.tables import cache  # noqa: PLC0415

    if error.errno in files.CROWDED:
        return "; allow more open files (ulimit -n 1024)"
    is_cached = bool(error.filename) and Path(os.fsdecode(error.filename)).is_relative_to(cache.root())
    room = "; free some space and run again" if error.errno in files.FULL else ""
    return room + ("; it is in the cache of decoded tables, which TRAJECTORY_CACHE=FOLDER moves" if is_cached else "")


def leave(status: int) -> NoReturn:
    """End the process at once: taking down the imported modules one by one takes a tenth of a second.

    Not after kernels have run, since their server must be ended, nor if the output could not be flushed.
    """
    if stdin := sys.modules.get("analysis.sources.stdin"):
        stdin.remove()
    if "analysis.report.kernels" not in sys.modules:
        with suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
            interrupts.last_word()
            os._exit(status)
    sys.exit(status)
