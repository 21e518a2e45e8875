"""Declared reports -> executed notebooks -> pages, and an index that is never more hopeful than the folder.

The source is decoded once, before the first kernel starts, so that every notebook finds its tables. Notebooks run in
threads of this process: the work is in their kernels, which are processes of their own, and papermill with all it
imports is loaded once. The page of an earlier run is gone before its successor is begun, so what is there was
finished, and the index says what is missing and why.
"""

import json
import logging
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import msgspec
import nbformat
import papermill
from jupyter_core.utils import ensure_event_loop
from tqdm.auto import tqdm

from analysis import files, processes, sources
from analysis.report import kernels
from analysis.report.failures import Failure, exit_status, explain
from analysis.report.folder import Entry, Folder
from analysis.report.jobs import Job, jobs_of
from analysis.report.limits import affordable
from analysis.report.overview import overview_of
from analysis.report.provenance import code_hash, command, page_key, provenance
from analysis.report.request import ReportRequest
from analysis.report.suite import choose, literal, read_suite, resolve
from analysis.report.verdict import MOST, OF_TWO, Attention, Front, attention_of, bounds_of, verdict_of
from analysis.tables import Tables, load


class Exporter(Protocol):
    """Anything of nbconvert's that makes one page of one notebook."""

    def from_notebook_node(self, nb: Any, resources: Any = None) -> tuple[str, Any]: ...


@dataclass(frozen=True)
class Result:
    """What became of it: an entry per report, the failures by report, the index, and the exit status they amount to.

    And the manifest of the tables, which names what of the source cannot be read.
    """

    entries: list[Entry]
    failures: dict[str, Failure]
    index: Path
    manifest: dict[str, Any] = field(default_factory=dict)

    @property
    def status(self) -> int:
        return exit_status(list(self.failures.values())) or int(bool(self.manifest.get("damage")))


def run(request: ReportRequest, exporter: Exporter | None = None) -> Result:
    """Make the reports asked for.

    Args:
        request: which, of what, where to.
        exporter: makes the pages; the suite's own unless another is given.

    Returns:
        What was made and what was not. A failing report costs only itself.

    Raises:
        ParameterError: something asked for does not exist; nothing has run and nothing has changed.
        GateError: the gate cannot be read; neither.
        sources.SourceError: there is nothing to read; neither.
        OSError: the output folders cannot be written.
        KeyboardInterrupt: passed on after the kernels are stopped and the index says what is missing.
    """
    sources.refuse_inside(request.out, request.source)
    bounds = bounds_of(request)
    reports = choose(read_suite(request.suite), request.only)
    beside = ("environments", "scenarios", "against")
    siblings = {name: getattr(request, name) for name in beside if getattr(request, name)}
    given = {**siblings, **request.parameters}
    parameters = resolve(reports, given, offered={"source": request.source})
    at_once = affordable(request.jobs or processes.cores() + 1)
    if request.engine == kernels.WARM:
        papermill.engines.papermill_engines.register(kernels.WARM, _warm_engine())
        kernels.warm_up()  # imports while the tables are read
    data = load(
        request.source,
        environments=given.get("environments", ""),
        scenarios=given.get("scenarios", ""),
        against=given.get("against", ""),
        progress=request.progress,
        replay=any(each.get("replay") is True for each in parameters.values()),
    )
    jobs = jobs_of(reports, parameters, data, request.each)
    request.executed.mkdir(parents=True, exist_ok=True)
    files.sweep(request.executed)
    is_judged = not request.only and not request.each
    judged = partial(verdict_of, request, data, bounds, request.parameters) if is_judged else None
    suite = _Suite(request, data, jobs, exporter or _own_exporter(), judged)
    # The work is in the kernels: this process has time for the schemas meanwhile.
    with _quiet(), ThreadPoolExecutor(1) as aside:
        schemas = aside.submit(publish_schemas, request.out / "schemas")
        suite.make(at_once)
    schemas.result()
    return Result(suite.folder.entries, suite.failures, suite.folder.index, data.manifest)


def publish_schemas(folder: Path) -> None:
    """The JSON Schema of every table that the pages show or draw from, beside them; what others keep there stays."""
    from analysis.reference import json_schema  # noqa: PLC0415  all measures and charts, which a refusal need not pay

    folder.mkdir(parents=True, exist_ok=True)
    files.sweep(folder)
    for name, table in json_schema.published().items():
        files.write_whole(folder / f"{name}.json", json_schema.text(table), is_durable=True)


class _Suite:
    """One run: its jobs, its folder, and what has failed so far."""

    def __init__(
        self,
        request: ReportRequest,
        data: Tables,
        jobs: list[Job],
        exporter: Exporter,
        judged: Callable[[], tuple[Front, dict[str, Any] | None]] | None,
    ) -> None:
        self.request = request
        self.judged = judged
        self.attention: dict[str, list[Attention]] = {}
        self.jobs = jobs
        self.exporter = exporter
        self.failures: dict[str, Failure] = {}
        self.provenance = provenance(request, data)
        self.code = code_hash(self.provenance["versions"])
        # A subset's file may hold other trajectories of the same bytes than the last time.
        self.contents = f"{data.manifest['content_hash']} {data.manifest.get('subset_hash', '')}"
        overview = overview_of(request.each, data, jobs) if request.each else None
        self.folder = Folder(request.out, self.provenance, [self._entry(job) for job in jobs], overview)

    def make(self, at_once: int) -> None:
        self.folder.begin(keep=bool(self.request.each))
        pending = {entry.name for entry in self.folder.pending}
        runnable = [job for job in self.jobs if job.name in pending]
        pool = ThreadPoolExecutor(at_once)
        try:
            futures = {pool.submit(self._execute, job): job for job in runnable}
            bar = tqdm(
                _as_they_end(futures), total=len(futures), desc="reports", unit="report", disable=self._is_silent
            )
            for future in bar:
                self._finish(futures[future], future)
            self._mend_links(runnable)
            # Last: what the notebooks have counted need not be counted again.
            if self.judged is not None:
                front, rows = self.judged()
                self.folder.judge(self._front(front), rows)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            kernels.kill_all()
            raise
        finally:
            pool.shutdown(wait=True)
            self.folder.end()

    @property
    def _is_silent(self) -> bool | None:
        """None: silent unless stderr is a terminal."""
        return None if self.request.progress else True

    def _execute(self, job: Job) -> None:
        """Execute a notebook and keep it under `executed`; a failed one is kept as far as it came."""
        # Two runs may execute the same notebook at once: each writes a file of its own, and renames.
        beside = files.beside(self._executed(job))
        try:
            with _own_loop():
                papermill.execute_notebook(
                    literal(job.report.notebook),
                    literal(beside),
                    job.parameters,
                    engine_name=self.request.engine,
                    progress_bar=False,
                    execution_timeout=self.request.timeout,
                    # Not papermill's cwd, which is this whole process's: relative sources mean what they mean here.
                    resources={"metadata": {"path": str(Path.cwd())}},
                )
        except BaseException as error:
            failure = explain(error, _as_far_as_it_came(beside), self.request.timeout)
            self._keep(job)
            if isinstance(error, Exception):
                raise _ReportError(failure) from error
            raise

    def _keep(self, job: Job) -> None:
        """Give a notebook that no page comes of its name, for a look at how far it came."""
        executed = self._executed(job)
        if files.beside(executed).exists():
            files.beside(executed).replace(executed)

    def _executed(self, job: Job) -> Path:
        return self.request.executed / f"{job.name}.ipynb"

    def _finish(self, job: Job, future: "Future[None]") -> None:
        try:
            future.result()
            self._export(job)
        except _ReportError as error:
            self._fail(job, error.failure)
        except Exception as error:  # Exporters are many people's code on other people's data: it costs this page only.
            self._fail(job, explain(error))

    def _fail(self, job: Job, failure: Failure) -> None:
        self.failures[job.name] = failure
        self._keep(job)
        self.folder.fail(job.name, failure.message)

    def _export(self, job: Job) -> None:
        """The page, and the notebook it is made of: `jupyter nbconvert` makes the same page of that notebook.

        The notebook is read again: a thousand of them would not fit into memory, and in a file all names are sorted.
        """
        executed = self._executed(job)
        own = files.beside(
            executed
        )  # until the page is made: another run at once may write its notebook under the same name
        notebook = nbformat.read(own if own.exists() else executed, as_version=4)
        notebook.metadata["trajectory_report"] = json.loads(json.dumps(self._about(job), sort_keys=True))
        files.write_whole(executed, nbformat.writes(notebook), is_durable=True)
        own.unlink(missing_ok=True)
        html, _ = self.exporter.from_notebook_node(notebook, {"metadata": {"name": job.name}})
        self.folder.make(job.name, html)
        self.attention[job.name] = list(attention_of(notebook, f"{job.name}.html", job.title))

    def _about(self, job: Job) -> dict[str, Any]:
        """What only the suite knows of a page: the pages beside it, where its numbers come from, of whom it tells."""
        links = [{"name": "index", "title": "All reports", "href": "index.html"}]
        links += [
            {"name": other.name, "title": other.title, "href": f"{other.name}.html"}
            for other in self.jobs
            if other.group == job.group and not other.lacking and other.name not in self.failures
        ]
        facts = self.provenance | {"parameters": job.parameters, "command": command(self.request, job)}
        about = {"suite": links, "facts": facts, "description": job.report.description}
        return about | ({"title": job.title} if job.group is not None else {})

    def _front(self, front: Front) -> Front:
        """With what the pages say needs attention, in their order."""
        jobs = (job.name for job in self.jobs if job.name != OF_TWO)
        said: dict[str, Attention] = {}
        for one in (one for name in jobs for one in self.attention.get(name, [])):
            said.setdefault(one.sentence, one)
        return msgspec.structs.replace(front, attention=list(said.values())[:MOST])

    def _mend_links(self, jobs: list[Job]) -> None:
        """Pages made before another report failed link to it: they are exported again without that link."""
        hurt = {job.group for job in jobs if job.name in self.failures}
        for job in jobs:
            if job.group in hurt and job.name not in self.failures:
                self._export(job)

    def _entry(self, job: Job) -> Entry:
        return Entry(
            name=job.name,
            title=job.title,
            description=job.report.description,
            page=f"{job.name}.html",
            group=job.group or "",
            state="skipped" if job.lacking else "pending",
            message=job.lacking,
            parameters={name: str(value) for name, value in job.parameters.items()},
            source=self.request.source,
            content_hash=self.provenance["content_hash"],
            date=self.provenance["date"],
            key=page_key(job, self.contents, self.code),
        )


def _as_they_end(futures: Iterable["Future[None]"]) -> Iterator["Future[None]"]:
    """Like `as_completed`, but awake: under Polars' signal handler a waiting thread does not see Ctrl-C."""
    pending = set(futures)
    while pending:
        done, pending = wait(pending, timeout=0.2, return_when=FIRST_COMPLETED)
        yield from done


class _ReportError(Exception):
    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


def _as_far_as_it_came(path: Path) -> Any:
    try:
        return nbformat.read(path, as_version=4)
    except (OSError, ValueError):
        return None


def _warm_engine() -> Any:
    # After papermill is there: it loads the same class by its entry point while it is being imported.
    from analysis.report.engine import WarmKernelEngine  # noqa: PLC0415

    return WarmKernelEngine


def _own_exporter() -> Exporter:
    from analysis.report.exporter import TrajectoryReportExporter  # noqa: PLC0415  seconds, which a refusal need not pay

    # Checked once at the end, not after each of nbconvert's steps, none of which is switched on.
    exporter: Exporter = TrajectoryReportExporter(optimistic_validation=True)
    return exporter


@contextmanager
def _own_loop() -> Iterator[None]:
    """Jupyter's libraries make an event loop for each thread that has none, and leave it open."""
    loop = ensure_event_loop()
    try:
        yield
    finally:
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()


@contextmanager
def _quiet() -> Iterator[None]:
    """Papermill's logger repeats every failure in its own words; ours are said once."""
    logger = logging.getLogger("papermill")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)
