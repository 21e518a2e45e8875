"""Kernels that start warm: forked from a process that has imported the slow packages once.

A fork server (the standard library's) does the importing. Each notebook gets a process of its own: a namespace as fresh
as a restarted kernel's, and a crash that costs one notebook. The server imports only what starts no thread, so that
forking is sound; Polars starts some and is left to the kernel. A child imports this module, so papermill is not in it.
"""

import asyncio
import atexit
import gc
import multiprocessing
import os
import signal
import sys
import time
from functools import partial
from multiprocessing import forkserver
from multiprocessing.context import ForkServerContext, ForkServerProcess
from queue import Empty
from threading import Lock
from typing import Any, ClassVar
from uuid import uuid4

from jupyter_client.asynchronous import AsyncKernelClient
from jupyter_client.manager import AsyncKernelManager
from jupyter_client.provisioning import LocalProvisioner

from analysis import interrupts, processes
from analysis.report import limits, sockets

WARM = "warm_kernel"  # as papermill knows the engine that starts them

# Imported once in the server, in this order: two seconds that every notebook would wait for. Of the project there is
# only `imports` among them, which shortens the rest: a kernel imports the project anew, as it stands then.
PRELOAD = ["analysis.imports", "altair", "jsonschema", "msgspec", "jsonschema_rs", "fsspec", "filelock", "tqdm.auto"]
PRELOAD += ["numpy", "rapidfuzz.distance", "rapidfuzz.fuzz", "rapidfuzz.process", "rensa", "markupsafe"]
PRELOAD += ["ipykernel.kernelapp", "ipykernel.ipkernel", "ipykernel.debugger", "IPython.core.interactiveshell"]
PRELOAD += ["IPython.core.completerlib", "IPython.extensions.storemagic", "tornado.platform.asyncio", "sqlite3"]

# Looks at a kernel that starts, or ends, are this far apart; jupyter_client's own pauses are longer than either takes.
POLL_S = 0.02
CONTROL_S = 1.0

_lock = Lock()
_context: ForkServerContext | None = None


def warm_up() -> None:
    """Start the server now, so that it imports while the caller does something else."""
    with interrupts.undivided(), _lock:
        _server()


def kill_all() -> None:
    """Kill the kernels this process has running."""
    for process in list(WarmProvisioner.running):
        process.kill()


def run_kernel(argv: list[str], env: dict[str, str], cwd: str | None) -> None:
    """What a forked process does: become the kernel that `argv` asks for."""
    # What the server imported is there to stay: no collection of this kernel need walk it.
    gc.freeze()
    os.setsid()
    interrupts.unblock(signal.SIGINT, signal.SIGTERM)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.clear()
    os.environ.update(env)
    if cwd:
        os.chdir(cwd)
    if "" not in sys.path:
        sys.path.insert(0, "")
    from ipykernel.kernelapp import IPKernelApp  # noqa: PLC0415  # already loaded in the server

    # A run that is killed outright leaves no kernel behind, nor what the kernel started.
    processes.end_with_parent(partial(os.killpg, 0, signal.SIGKILL))
    # Its log is of no use here: what a cell raises is in the notebook, and how a kernel died is for its manager to say.
    IPKernelApp.launch_instance(argv=[*argv, "--log-level=CRITICAL"])
    # Asked to end, its control thread still sends what was printed, by way of another thread. The app closes that one
    # first: one kernel in ten or so then waited until it was killed.
    if control := IPKernelApp.instance().control_thread:
        control.join(timeout=CONTROL_S)
    atexit._run_exitfuncs()  # what a notebook registered; a forked process would leave without


class WarmProvisioner(LocalProvisioner):  # type: ignore[misc]  # jupyter_client is not typed
    """Starts a kernel by asking the server for a fork, and gives it the face of a `subprocess.Popen`."""

    running: ClassVar["set[_Process]"] = set()
    started: "_Process | None" = None

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> Any:
        argv = cmd[cmd.index("-f") :]
        loop = asyncio.get_running_loop()
        env = kwargs.get("env") or dict(os.environ)
        self.process = self.started = await loop.run_in_executor(None, _fork, argv, env, kwargs.get("cwd"))
        self.pid, self.pgid = self.started.child.pid, None
        return self.connection_info

    async def cleanup(self, restart: bool = False) -> None:
        # Its own and no other's: those are other threads', which ask after them at the same time.
        if self.started and self.started.poll() is not None:
            WarmProvisioner.running.discard(self.started)
        await super().cleanup(restart)


class _Process:
    """The part of `subprocess.Popen` that jupyter_client uses, over a `multiprocessing.Process`."""

    stdin = stdout = stderr = None

    def __init__(self, child: ForkServerProcess) -> None:
        self.child = child

    def poll(self) -> int | None:
        # multiprocessing asks after every child when it starts one, and an exit status can be read once.
        with _lock:
            return self.child.exitcode

    def wait(self) -> int | None:
        self.child.join()
        return self.child.exitcode

    def send_signal(self, signum: int) -> None:
        if self.child.pid is None or self.poll() is not None:
            return
        try:
            os.killpg(self.child.pid, signum)  # what the notebook started goes with it
        except ProcessLookupError:
            os.kill(self.child.pid, signum)  # forked a moment ago, not yet the leader of a group

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class WarmKernelClient(AsyncKernelClient):  # type: ignore[misc]
    """Knows a kernel to be ready as soon as it is heard on both channels.

    The client it stands for listens for 0.2 s more, to be rid of messages that nobody waits for: a third of the time
    that a warm kernel takes to start. Who executes tells messages apart by the request that they answer.
    """

    def start_channels(self, **channels: bool) -> None:
        """Without the heartbeat: whether the process lives is known from the process.

        The heartbeat is a thread with a socket that the manager closes at the end, now and then while it is in use,
        and then all of this process was gone.
        """
        super().start_channels(**{**channels, "hb": False})

    async def _async_wait_for_ready(self, timeout: float | None = None) -> None:
        """Wait until the kernel is heard on both channels.

        Raises:
            RuntimeError: it died, or was not heard in `timeout` seconds.
        """
        deadline = time.monotonic() + (float("inf") if timeout is None else timeout)
        asked, is_answered = set(), False
        while True:
            asked.add(self.kernel_info())
            is_answered = is_answered or await self._is_answered()
            if is_answered and await self._is_told_of(asked):
                return
            if not await self.parent.is_alive():
                raise RuntimeError("Kernel died before replying to kernel_info")
            if time.monotonic() > deadline:
                raise RuntimeError(f"Kernel didn't respond in {timeout} seconds")

    wait_for_ready = _async_wait_for_ready

    async def _is_answered(self) -> bool:
        try:
            message = await self.get_shell_msg(timeout=1)
        except Empty:
            return False
        if message["msg_type"] != "kernel_info_reply":
            return False
        self._handle_kernel_info_reply(message)
        return True

    async def _is_told_of(self, asked: set[str]) -> bool:
        """Does what the kernel tells everybody arrive here? The last word on a request is that it is idle."""
        try:
            while True:
                message = await self.get_iopub_msg(timeout=POLL_S)
                is_last = message["msg_type"] == "status" and message["content"]["execution_state"] == "idle"
                if is_last and message["parent_header"].get("msg_id") in asked:
                    return True
        except Empty:
            return False


class WarmKernelManager(AsyncKernelManager):  # type: ignore[misc]
    """Starts this environment's own Python warm, and any other kernel as everybody does."""

    provisioner: Any
    kernel_id: Any
    client_factory: Any

    async def _async_pre_start_kernel(self, **kw: Any) -> Any:
        if self.provisioner is None and self.kernel_name == "python3" and hasattr(os, "fork"):
            self.kernel_id = self.kernel_id or uuid4().hex
            # Sockets in the file system: two runs at once cannot be given the same port.
            self.transport = "ipc"
            self.ip = str(sockets.folder() / self.kernel_id[:8])
            self.connection_file = f"{self.ip}.json"
            self.provisioner = WarmProvisioner(kernel_id=self.kernel_id, kernel_spec=self.kernel_spec, parent=self)
            self.client_factory = WarmKernelClient
        return await super()._async_pre_start_kernel(**kw)

    async def _async_finish_shutdown(self, waittime: float | None = None, restart: bool = False, **kw: Any) -> None:
        """Wait for a kernel that was asked to end, looking oftener than the manager this one stands for."""
        await super()._async_finish_shutdown(waittime, pollinterval=POLL_S, restart=restart)

    pre_start_kernel = _async_pre_start_kernel
    finish_shutdown = _async_finish_shutdown


def _server() -> ForkServerContext:
    global _context  # noqa: PLW0603  # one server for the process is the point
    if _context is None:
        # multiprocessing's own socket goes where ours are, by the one way there is to say so.
        multiprocessing.current_process()._config["tempdir"] = str(sockets.folder())  # type: ignore[attr-defined]
        limits.raised()
        interrupts.tidy_with(_kill_server)
        interrupts.tidy_with(kill_all)
        processes.start_tracker()
        _context = multiprocessing.get_context("forkserver")
        _context.set_forkserver_preload(PRELOAD)
        # NumPy's linear algebra would start threads on import; forking wants none. The debugger's first word is about
        # a flag of a cold kernel's command line. Whoever has an `altair.py` where this is called keeps it to himself.
        settings = {"OPENBLAS_NUM_THREADS": "1", "PYDEVD_DISABLE_FILE_VALIDATION": "1", "PYTHONSAFEPATH": "1"}
        with processes.environment(**settings), interrupts.blocked():
            forkserver.ensure_running()
    return _context


def _kill_server() -> None:
    """It would end by itself, but not before all its imports."""
    if pid := forkserver._forkserver._forkserver_pid:  # type: ignore[attr-defined]
        os.kill(pid, signal.SIGKILL)


def _fork(argv: list[str], env: dict[str, str], cwd: str | None) -> _Process:
    with interrupts.undivided(), _lock, processes.nameless_main():
        child = _server().Process(target=run_kernel, args=(argv, env, cwd), daemon=False)
        child.start()
        process = _Process(child)
        WarmProvisioner.running.add(process)
    return process
