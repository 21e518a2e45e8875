"""The dictionary and the method as Markdown, for the documentation of the API, and as text, for a terminal."""

import re
import textwrap
from collections.abc import Iterator

import polars as pl

from analysis.reference import dictionary, docstrings, method
from analysis.reference.method import Idea, Measure, Question
from analysis.schema import Table
from analysis.wording import ABSENT, cell, count, percent

NARROWEST = 60
# What Markdown, or HTML inside it, would take for its own in the cell of a table.
_MARKS = re.compile(r"([\\|<>*_\[\]`])")


def dictionary_page() -> str:
    """The data dictionary as Markdown: tables, columns, rules, claims."""
    parts = [
        docstrings.of(dictionary).summary,
        grid(dictionary.tables(), dictionary.TABLES),
        *(f"## {table.name}\n\n{sentence(table)}\n\n{columns(table)}" for table in dictionary.KEPT),
        "## Rules of findings",
        grid(dictionary.rules(), dictionary.RULES),
        "## The publisher's claims",
        grid(dictionary.claims(), dictionary.CLAIMS),
    ]
    return "\n\n".join(parts) + "\n"


def method_page() -> str:
    """The method as Markdown: every question with its measures, and the ideas they share."""
    parts = [docstrings.of(method).summary, *(part for question in method.questions() for part in _question(question))]
    parts += ["## Ideas that measures share", *(idea(one) for one in method.ideas())]
    parts += [interval_coverage(), grid(method.interval_coverage(), method.INTERVAL_COVERAGE)]
    parts += [outcome_rules(), grid(method.outcome_rules(), method.OUTCOME_RULES)]
    return "\n\n".join(parts) + "\n"


def interval_coverage() -> str:
    """How often intervals hold the truth where it is known, as Markdown."""
    held = method.interval_coverage()["held"]
    close = held.is_between(0.93, 0.975).sum()
    return (
        "## Coverage of the intervals\n\n"
        "How often a 95 % interval holds the truth, over 1,000 simulated sources of each kind: even and unequal "
        "numbers of trajectories per scenario, skewed lengths, rare events; the two sides of a difference with the "
        f"same scenarios or with others. Of {count(held.len(), 'case')}, {count(close)} hold it in 93 to 97.5 % of the "
        f"sources; the least is {percent(held.min())}, the most {percent(held.max())}."  # type: ignore[arg-type]
    )


def outcome_rules() -> str:
    """What the rules of outcomes were held against, as Markdown."""
    return (
        "## Rules of outcomes\n\n"
        "300 results were drawn by source and rule and labelled by hand: ok, error, or unknown where the text does not "
        "say. Plain values, such as a number, are read as ok by a person and left unknown by the rules. The texts are "
        "those that these records hold: forms of errors that do not occur in them are tested one by one, not measured."
    )


def about(question: Question) -> str:
    """What a question asks, as Markdown, and where it is answered."""
    asks = question.doc.summary.removeprefix(f"{question.title}: ")
    where = f"Answered in {', '.join(question.notebooks)}." if question.notebooks else ""
    return "\n\n".join(part for part in (asks[:1].upper() + asks[1:], question.doc.text, where) if part)


def definition(measure: Measure) -> str:
    """A measure's definition as Markdown: what it does, what it takes, what it gives, what is drawn of it."""
    takes = ", ".join(dict.fromkeys(f"`{name}`" for name in measure.takes.values()))
    asked = [f"`{name}`, {words}" for name, words in measure.doc.arguments.items() if name not in measure.takes]
    facts = [f"`{measure.home}.{measure.name}` takes {takes}.", *(f"{words.removesuffix('.')}." for words in asked)]
    drawn = "\n".join(f"- **{figure.about}** {figure.definition}" for figure in measure.figures)
    parts = [measure.doc.summary, measure.doc.text, " ".join(facts), measure.returns, drawn]
    return "\n\n".join(part for part in parts if part)


def idea(one: Idea) -> str:
    """A shared idea as Markdown."""
    return "\n\n".join(part for part in (f"### {one.name}", one.doc.summary, one.doc.text) if part)


def sentence(table: Table) -> str:
    """What a table's row is, and what makes it unique."""
    key = f" Key: {', '.join(f'`{name}`' for name in table.key)}." if table.key else " Rows may repeat."
    return f"One row per {table.grain}.{key}"


def columns(table: Table) -> str:
    """A table's columns as a Markdown table; a column of nothing is left out."""
    frame = dictionary.columns(table)
    told = [name for name in frame.columns if frame[name].null_count() < frame.height]
    return grid(frame.select(told), dictionary.COLUMNS)


def grid(frame: pl.DataFrame, declared: Table) -> str:
    """A frame as a Markdown table with the titles of its declaration; every text in it is escaped."""
    lines = [
        [declared[name].title for name in frame.columns],
        ["---"] * frame.width,
        *[[_cell(value) for value in row] for row in frame.iter_rows()],
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def described(table: Table, width: int = 100) -> str:
    """A table for a terminal: its row, its key, and a paragraph a column.

    Args:
        table: what to describe.
        width: columns of the terminal.
    """
    head = f"{table.name}: {sentence(table).replace('`', '')}"
    body = [line for row in dictionary.columns(table).iter_rows(named=True) for line in _entry(row, width)]
    return "\n".join([*textwrap.wrap(head, max(width, NARROWEST)), *body])


def all_described(width: int = 100) -> str:
    """The tables that are kept for a terminal, and the names of the results, which can be described one by one."""
    results = textwrap.wrap(f"Results of measures: {', '.join(method.results())}.", max(width, NARROWEST))
    return "\n\n".join([*(described(table, width) for table in dictionary.KEPT), "\n".join(results)])


def _entry(row: dict[str, str | bool | None], width: int) -> Iterator[str]:
    facts = [row["dtype"], f"in {row['unit']}" if row["unit"] else "", "(may be null)" if row["nullable"] else ""]
    yield f"  {row['column']}"
    used = f"Used by {row['used_by']}." if row["used_by"] else ""
    for text in (" ".join(str(fact) for fact in facts if fact), f"{row['meaning']}.", used):
        yield from textwrap.wrap(text, max(width, NARROWEST), initial_indent="      ", subsequent_indent="      ")


def _question(question: Question) -> Iterator[str]:
    yield f"## {question.title}"
    yield about(question)
    for measure in question.measures:
        yield f"### {question.name}.{measure.name}"
        yield definition(measure)
        yield columns(measure.result)


def _cell(value: object) -> str:
    shown = ABSENT if value is None else cell(value)
    return _MARKS.sub(r"\\\1", " ".join(shown.split()))
