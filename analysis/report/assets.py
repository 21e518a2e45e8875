"""What every page carries: template, style, script, and the Vega bundle, packed once per version."""

import base64
import gzip
import hashlib
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

import analysis
from analysis import files, wording
from analysis.tables import cache as tables_cache

_PACKAGE = Path(analysis.__file__).parent


def folder(name: str) -> Path:
    """A folder that stands beside the package in a checkout, and inside it in an installed wheel."""
    beside = _PACKAGE.parent / name
    return beside if beside.exists() else _PACKAGE / "_bundled" / name


@dataclass(frozen=True)
class Bundle:
    """The chart library: gzipped and base64 for the page, and the hash its unpacked text is let in by."""

    packed: str
    csp_hash: str


@cache
def bundle() -> Bundle:
    """Vega, Vega-Lite and Vega-Embed as one script. Building takes seconds, so it is kept on disk by version."""
    from vl_convert import get_vega_embed_version, get_vega_version, get_vegalite_versions, javascript_bundle  # noqa: PLC0415

    version = f"{get_vega_version()}-{get_vegalite_versions()[-1]}-{get_vega_embed_version()}"
    path = tables_cache.root() / "vega" / f"{version}.js.gz"
    try:
        packed = path.read_bytes()
        script = gzip.decompress(packed)
    except (OSError, EOFError):
        script = javascript_bundle("window.vegaEmbed=vegaEmbed;window.vega=vega;").encode()
        packed = gzip.compress(script, 9, mtime=0)
        with suppress(OSError):  # a cache that cannot be written costs three seconds, not the page
            files.write_whole(path, packed)
    return Bundle(base64.b64encode(packed).decode(), csp_hash(script))


def csp_hash(script: bytes) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script).digest()).decode()}'"


@cache
def style() -> str:
    return (folder("reports/template") / "style.css").read_text(encoding="utf-8").strip()


@cache
def script() -> str:
    return (folder("reports/template") / "script.js").read_text(encoding="utf-8").strip()


@cache
def template(name: str) -> str:
    """A template's text; it must not change while a run goes on."""
    return (folder("reports/template") / name).read_text(encoding="utf-8")


@cache
def environment() -> Environment:
    """The template engine; numbers become text by `wording`, as everywhere."""
    made = Environment(
        loader=FileSystemLoader(folder("reports/template")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals["wording"] = wording
    return made


def policy(*scripts: str) -> str:
    """The content security policy of a page that runs these scripts (their CSP hashes) and nothing else."""
    return (
        f"default-src 'none'; script-src {' '.join(scripts)}; style-src {csp_hash(style().encode())}; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
