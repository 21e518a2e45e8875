"""A hub on 127.0.0.1: as much of the hub's HTTP interface as the client library asks for, with faults on request.

Large files are served the way the hub does it: the address under /resolve/ answers with the commit and the checksum and
redirects to storage on another host (here the other name of the same machine).
"""

import hashlib
import json
import re
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

COMMIT = "0279d9ac792a12bfd28f8659de07948b4698df63"


@dataclass
class Repository:
    files: dict[str, bytes]
    small: set[str] = field(default_factory=lambda: {"README.md"})  # kept in git itself, not as a large file
    revisions: dict[str, str] = field(default_factory=lambda: {"main": COMMIT})
    denial: tuple[int, dict[str, str]] | None = None  # what /resolve/ answers instead

    def commit(self, revision: str) -> str | None:
        return self.revisions.get(revision, revision if revision in self.revisions.values() else None)


@dataclass
class LoopbackHub:
    endpoint: str
    repositories: dict[str, Repository] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)  # method and path, with the first byte of a range
    with_token: list[str] = field(default_factory=list)  # paths of the requests that carried a token
    faults: dict[str, list[tuple[int, dict[str, str]]]] = field(default_factory=dict)  # by "METHOD path prefix"
    break_after: list[int] = field(default_factory=list)  # the next downloads break off after so many bytes
    resets: bool = False  # a break is a reset, not an early end
    stall_after: list[int] = field(default_factory=list)  # the next downloads stop there, until the client is gone
    stalled: threading.Event = field(default_factory=threading.Event)
    served: dict[str, bytes] = field(default_factory=dict)  # what storage really gives for a checksum

    def transfers(self) -> list[str]:
        """Requests that move content."""
        return [request for request in self.asked if request.startswith("GET /storage/")]

    def fault(self, request: str) -> tuple[int, dict[str, str]] | None:
        for prefix, answers in self.faults.items():
            if answers and request.startswith(prefix):
                return answers.pop(0)
        return None


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: LoopbackHub

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def log_message(self, format: str, *args: Any) -> None:
        """Silence: the tests look at `asked`."""

    def _answer(self) -> None:
        path = unquote(urlsplit(self.path).path)
        begin = re.match(r"bytes=(\d+)-", self.headers.get("Range", ""))
        self.hub.asked.append(f"{self.command} {path}" + (f" from {begin[1]}" if begin else ""))
        if "Authorization" in self.headers:
            self.hub.with_token.append(path)
        fault = self.hub.fault(f"{self.command} {path}")
        if fault is not None:
            self._send(*fault)
        elif path == "/api/datasets":
            self._json([{"id": name, "tags": []} for name in self.hub.repositories])
        elif match := re.fullmatch(r"/api/datasets/([^/]+/[^/]+)/refs", path):
            self._refs(self.hub.repositories[match[1]])
        elif match := re.fullmatch(r"/api/datasets/([^/]+/[^/]+)/tree/([^/]+)(?:/(.+))?", path):
            self._tree(self.hub.repositories[match[1]], match[3] or "")
        elif match := re.fullmatch(r"/api/datasets/([^/]+/[^/]+)(?:/revision/(.+))?", path):
            self._info(match[1], match[2] or "main")
        elif match := re.fullmatch(r"/datasets/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path):
            self._resolve(self.hub.repositories[match[1]], match[2], match[3])
        elif match := re.fullmatch(r"/storage/(\w+)", path):
            self._content(self.hub.served[match[1]], int(begin[1]) if begin else 0)
        else:
            self._send(404, {})

    def _info(self, name: str, revision: str) -> None:
        repository = self.hub.repositories.get(name)
        if repository is None:
            # The hub does not tell a stranger whether a repository is private or absent.
            self._send(401, {"X-Error-Code": "RepoNotFound", "X-Error-Message": "Repository not found"})
        elif (commit := repository.commit(revision)) is None:
            self._send(404, {"X-Error-Code": "RevisionNotFound", "X-Error-Message": "Invalid rev id"})
        else:
            siblings = [self._sibling(repository, file) for file in repository.files]
            self._json({"id": name, "sha": commit, "tags": [], "siblings": siblings})

    def _sibling(self, repository: Repository, name: str) -> dict[str, Any]:
        content = repository.files[name]
        sibling: dict[str, Any] = {"rfilename": name, "size": len(content), "blobId": git_hash(content)}
        if name not in repository.small:
            sibling["lfs"] = {"size": len(content), "sha256": sha256(content), "pointerSize": 134}
        return sibling

    def _tree(self, repository: Repository, folder: str) -> None:
        below = f"{folder}/" if folder else ""
        files = [name for name in repository.files if name.startswith(below)]
        folders = {parent.as_posix() for name in files for parent in PurePosixPath(name).parents}
        listed = [{"type": "directory", "path": name, "oid": "0" * 40, "size": 0} for name in sorted(folders - {"."})]
        for name in files:
            content = repository.files[name]
            listed.append({"type": "file", "path": name, "oid": git_hash(content), "size": len(content)})
        self._json(listed)

    def _refs(self, repository: Repository) -> None:
        branches = [
            {"name": name, "ref": f"refs/heads/{name}", "targetCommit": commit}
            for name, commit in repository.revisions.items()
        ]
        self._json({"branches": branches, "tags": [], "converts": []})

    def _resolve(self, repository: Repository, revision: str, name: str) -> None:
        if repository.denial is not None:
            self._send(*repository.denial)
            return
        if name not in repository.files:
            self._send(404, {"X-Error-Code": "EntryNotFound", "X-Error-Message": "Entry not found"})
            return
        content = repository.files[name]
        commit = {"X-Repo-Commit": repository.commit(revision) or ""}
        if name in repository.small:
            self._send(200, commit | {"ETag": f'"{git_hash(content)}"'}, content)
            return
        checksum = sha256(content)
        self.hub.served.setdefault(checksum, content)
        storage = self.hub.endpoint.replace("127.0.0.1", "localhost")
        linked = {"X-Linked-ETag": f'"{checksum}"', "X-Linked-Size": str(len(content))}
        self._send(302, commit | linked | {"Location": f"{storage}/storage/{checksum}"})

    def _content(self, content: bytes, begin: int) -> None:
        wanted = content[begin:]
        status = 206 if begin else 200
        span = {"Content-Range": f"bytes {begin}-{len(content) - 1}/{len(content)}"} if begin else {}
        if self.hub.stall_after and self.command == "GET":
            self._begin(status, span, wanted, self.hub.stall_after.pop(0))
            self.wfile.flush()
            self.hub.stalled.set()
            with suppress(ConnectionError):
                self.connection.recv(1)  # nothing comes but the end of the connection
            return
        if self.hub.break_after and self.command == "GET":
            self._begin(status, span, wanted, self.hub.break_after.pop(0))
            if self.hub.resets:
                self.wfile.flush()
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.connection.close()
            return
        self._send(status, span, wanted)

    def _begin(self, status: int, headers: dict[str, str], content: bytes, sent: int) -> None:
        """Announce the whole content and send only its first bytes."""
        self.send_response(status)
        for name, value in (headers | {"Content-Length": str(len(content))}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content[:sent])
        self.close_connection = True

    def _json(self, value: Any) -> None:
        self._send(200, {"Content-Type": "application/json"}, json.dumps(value).encode())

    def _send(self, status: int, headers: dict[str, str], content: bytes = b"") -> None:
        self.send_response(status)
        for name, value in (headers | {"Content-Length": str(len(content))}).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def git_hash(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


@contextmanager
def serve() -> Iterator[LoopbackHub]:
    """Run a hub on a free port for as long as the block lasts; afterwards its port refuses connections."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    hub = LoopbackHub(f"http://127.0.0.1:{server.server_address[1]}")
    server.RequestHandlerClass = type("Handler", (_Handler,), {"hub": hub})
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
