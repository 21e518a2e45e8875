"""The pages that a request comes to: one per report, or, with `--each`, one per report and value of a column."""

from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from analysis.files import file_name
from analysis.natural import natural_key
from analysis.parameters import ParameterError
from analysis.report.suite import Report, resolve
from analysis.tables import Tables


@dataclass(frozen=True)
class Job:
    """One page to be made; `lacking` says why it cannot be."""

    report: Report
    parameters: dict[str, Any]
    group: str | None = None
    lacking: str = ""

    @property
    def name(self) -> str:
        """Of the page and of the executed notebook, without an ending: plain letters, whatever the data hold."""
        return f"{self.report.name}--{file_name(self.group)}" if self.group is not None else self.report.name

    @property
    def title(self) -> str:
        return f"{self.report.title}: {self.group}" if self.group is not None else self.report.title


def jobs_of(reports: list[Report], parameters: dict[str, dict[str, Any]], data: Tables, each: str = "") -> list[Job]:
    """The pages of these reports.

    Args:
        reports, parameters: what was chosen, and each report's own parameters by its name.
        data: the tables they tell of.
        each: column of the trajectories; "" for one page per report.

    Raises:
        ParameterError: there is no such column, no value in it, or no report takes it as a parameter.
    """
    return _by_value(reports, parameters, data, each) if each else _once(reports, parameters, data)


def _once(reports: list[Report], parameters: dict[str, dict[str, Any]], data: Tables) -> list[Job]:
    return [Job(report, parameters[report.name], lacking=_lacking(report, data)) for report in reports]


def _by_value(reports: list[Report], parameters: dict[str, dict[str, Any]], data: Tables, column: str) -> list[Job]:
    """A job per report and value of the column, for the reports that take the column as a parameter."""
    names = data.trajectories.collect_schema().names()
    if column not in names:
        raise ParameterError(f"--each {column}: not a column of the trajectories; it has {', '.join(names)}")
    values = data.trajectories.select(pl.col(column).cast(pl.String).unique().drop_nulls()).collect().to_series()
    if values.is_empty():
        raise ParameterError(f"--each {column}: {data.source} names none")
    jobs = []
    for value in sorted(values, key=natural_key):
        own = resolve(reports, {column: value}, offered={})
        for job in _once([report for report in reports if own[report.name]], parameters, data):
            jobs.append(replace(job, parameters=job.parameters | own[job.report.name], group=value))
    return [job for job in jobs if not job.lacking]


def _lacking(report: Report, data: Tables) -> str:
    for need in report.needs:
        table, _, column = need.partition(".")
        frame = getattr(data, table)
        if column and frame.filter(pl.col(column).is_not_null()).head(1).collect().is_empty():
            return f"no row of {data.source}'s {table} has a {column}"
        if frame.head(1).collect().is_empty():
            if need == "replays":
                return f"{data.source} was not replayed; to play its calls again in a sandbox, add -p replay true"
            if need == "reference":
                return f"{data.source} was held against no other set; to name one, add --against SOURCE"
            missing = need.replace("_", " ")
            return f"{data.source} has no {missing}; name the sibling sets with --environments and --scenarios"
    return ""
