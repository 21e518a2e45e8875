"""Begin a new question: a notebook, a measure, a brief, a chart and their tests, which pass as they are.

    make notebook NAME=waiting QUESTION="How long does an agent wait for its user?"

The tree beside this file is copied into the project with the name in place of `new_question`, and the question is added
to the grid of README.md, to the tour in notebooks/README.md and to the suite of reports. Nothing is overwritten.
"""

import argparse
import json
import keyword
import re
import subprocess
import sys
from pathlib import Path
from textwrap import fill

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
NAME, TITLE, QUESTION, NUMBER = "new_question", "New question", "What is asked here?", "NN"
LISTS = ("README.md", "notebooks/README.md", "reports/suite.toml")


class RefusedError(ValueError):
    """What was asked for cannot be made; nothing has been written."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="make notebook", description=__doc__.split("\n\n")[0])
    parser.add_argument("--name", default="", help="the question's name in every layer, e.g. waiting")
    parser.add_argument("--question", default="", help="the question, in a sentence")
    parser.add_argument("--number", default="", help="two digits before the notebook's name; default: the next")
    options = parser.parse_args()
    try:
        made = make(ROOT, options.name, options.question, options.number)
    except RefusedError as refusal:
        print(f"make notebook: {refusal}", file=sys.stderr)
        return 2
    print("Made, and added to", ", ".join(LISTS) + ":")
    for path in made:
        print(f"  {path.relative_to(ROOT)}")
    tests = " ".join(str(path.relative_to(ROOT)) for path in made if path.name.startswith("test_"))
    print(
        f"They pass as they are: .venv/bin/python -m pytest {tests}\n"
        "Now make them yours: measure, brief, chart, tests, words."
    )
    return 0


def make(root: Path, name: str, question: str = "", number: str = "") -> list[Path]:
    """Write the files of a new question and its rows in the lists.

    Raises:
        RefusedError: the name, the question or the number cannot be used.
    """
    number = number or _next_number(root)
    question = " ".join(question.split()) or f"What of {name.replace('_', ' ')}?"
    _check(root, name, question, number)
    words = {NAME: name, TITLE: name.replace("_", " ").capitalize(), QUESTION: question, NUMBER: number}
    texts = {root / _told(str(path.relative_to(HERE)), words): _filled(path, words) for path in _templates()}
    there = [str(path.relative_to(root)) for path in texts if path.exists()]
    if there:
        raise RefusedError(f"{name!r} is taken: {', '.join(there)}")
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
    _add_to_lists(root, name, words[TITLE], question, f"{number}_{name}")
    _tidy(list(texts))
    return list(texts)


def _check(root: Path, name: str, question: str, number: str) -> None:
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or keyword.iskeyword(name) or len(name) > 40:
        raise RefusedError(
            f"{name!r} is no name for a question: give NAME=… of small letters, digits and _, a letter first"
        )
    if not re.fullmatch(r"\d\d", number):
        raise RefusedError(f"NUMBER={number} is not two digits")
    for path in sorted((root / "notebooks").glob("[0-9]*.ipynb")):
        if path.stem[:2] == number:
            raise RefusedError(f"number {number} is taken by {path.name}")
        if path.stem[3:] == name:
            raise RefusedError(f"{name!r} is taken: notebooks/{path.name}")
    if found := re.search(r'[\\"|`]', question):
        raise RefusedError(f"QUESTION may not hold {found.group()}: it stands in tables, in Python and in TOML")


def _next_number(root: Path) -> str:
    taken = [int(path.name[:2]) for path in (root / "notebooks").glob("[0-9][0-9]_*.ipynb")]
    following = max(taken, default=0) + 1
    if following > 99:
        raise RefusedError("the numbers of two digits end here; name a free one: NUMBER=15")
    return f"{following:02d}"


def _templates() -> list[Path]:
    return [path for path in sorted(HERE.rglob("*")) if path.suffix in (".py", ".ipynb") and path.parent != HERE]


def _filled(template: Path, words: dict[str, str]) -> str:
    text = template.read_text(encoding="utf-8")
    if template.suffix == ".py":
        # A long question becomes a docstring of several lines.
        text = text.replace(f'"""{QUESTION}"""', fill(f'"""{words[QUESTION]}"""', 120, break_long_words=False))
    return _told(text, words)


def _told(text: str, words: dict[str, str]) -> str:
    return re.sub("|".join(map(re.escape, words)), lambda found: words[found.group()], text)


def _add_to_lists(root: Path, name: str, title: str, question: str, notebook: str) -> None:
    _after_last(
        root / "README.md",
        r"^\| `\w+` \|.*\n",
        f"| `{name}` | {question} | [{notebook[:2]}](notebooks/{notebook}.ipynb) |\n",
    )
    _after_last(root / "notebooks/README.md", r"^\| \[\d\d_.*\n", f"| [{notebook}]({notebook}.ipynb) | {question} |\n")
    table = {"notebook": f"notebooks/{notebook}.ipynb", "title": title, "description": question}
    with (root / "reports/suite.toml").open("a", encoding="utf-8") as suite:
        # A JSON string is a TOML string.
        suite.writelines(
            [
                f"\n[{notebook}]\n",
                *(f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in table.items()),
            ]
        )


def _after_last(path: Path, row: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    *_, last = re.finditer(row, text, flags=re.MULTILINE)
    path.write_text(text[: last.end()] + new + text[last.end() :], encoding="utf-8")


def _tidy(paths: list[Path]) -> None:
    """Where a longer or shorter name breaks lines or sorts imports otherwise."""
    for verb in (["check", "--select", "I", "--fix"], ["format"]):
        subprocess.run([sys.executable, "-m", "ruff", *verb, "--quiet", *map(str, paths)], check=True)


if __name__ == "__main__":
    sys.exit(main())
