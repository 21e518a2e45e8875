"""The cells of an executed notebook as pieces of a page, in reading order.

Only what `analysis.show` made is taken as HTML. Whatever else a cell printed is shown as text: the page trusts nobody.
"""

import ast
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup
from nbconvert.filters.ansi import strip_ansi
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

from analysis import markup
from analysis.markup import CHART_TYPE
from analysis.report.figures import Figure, Store

# What `analysis.show` says of its outputs.
OURS = {"table", "headlines", "notice", "empty", "transcripts"}
IMAGES = {"image/png", "image/jpeg"}
# Anchors that the page or a transcript has already.
_OURS = re.compile(r"main|store|vega|tip|in-brief|provenance|figure-\d+.*|t-.*")
_LAB_STYLE = re.compile(r"^<style>.*?</style>\s*", re.DOTALL)


@dataclass(frozen=True)
class Piece:
    """A stretch of the page: `prose`, `figure`, `text`, `error`, or a kind of `analysis.show`."""

    kind: str
    html: Markup = field(default_factory=Markup)
    figure: Figure | None = None


@dataclass(frozen=True)
class Heading:
    level: int
    id: str
    text: str


@dataclass
class Content:
    """Everything a notebook says, sorted for the page."""

    title: str = ""
    intro: list[Piece] = field(default_factory=list)
    pieces: list[Piece] = field(default_factory=list)
    headings: list[Heading] = field(default_factory=list)
    headlines: list[Piece] = field(default_factory=list)
    attention: list[str] = field(default_factory=list)
    facts: dict[str, str] = field(default_factory=dict)
    parameters: dict[str, Any] = field(default_factory=dict)
    code: list[str] = field(default_factory=list)
    store: Store = field(default_factory=Store)
    synthetic: bool = False
    unread: str = ""

    @property
    def figures(self) -> list[Figure]:
        return [piece.figure for piece in self.pieces if piece.figure]


class Prose(IPythonRenderer):  # type: ignore[misc]  # nbconvert is not typed
    """Markdown without raw HTML and without anything that would be fetched; headings get anchors and are noted."""

    def __init__(self, headings: list[Heading]) -> None:
        super().__init__(escape=True, allow_harmful_protocols=False)
        self.headings = headings

    def heading(self, text: str, level: int, **_: Any) -> str:
        """A heading with its anchor and the link to it."""
        plain = Markup(text).striptags()
        id_ = _unique(slug(plain), {heading.id for heading in self.headings})
        self.headings.append(Heading(level, id_, plain))
        label = markup.text(f"Link to the section {plain}")
        link = f'<a class="anchor" href="#{id_}" aria-label="{label}">#</a>'
        return f'<h{level} id="{id_}">{text} {link}</h{level}>\n'

    def image(self, text: str, url: str, title: str | None = None) -> str:
        """A picture that the text carries in itself; of any other, what it shows in words."""
        if re.match(r"data:image/(png|jpeg|gif|webp);base64,", url):
            return f'<img src="{markup.text(url)}" alt="{text}">'
        return f"<span>{text}</span>"

    def block_code(self, code: str, info: str | None = None) -> str:
        """Code as it stands, to be scrolled by keyboard."""
        return f'<pre tabindex="0"><code>{markup.text(code)}</code></pre>\n'


def read(cells: Iterable[Any]) -> Content:
    """Sort the cells of a notebook into what the page shows where."""
    content = Content()
    renderer = Prose(content.headings)
    for cell in cells:
        if cell.cell_type == "markdown":
            _place(content, _prose(cell.source, renderer, content))
        elif cell.cell_type == "code":
            content.code.append(cell.source)
            if {"parameters", "injected-parameters"} & set(cell.metadata.get("tags", ())):
                content.parameters |= literals(cell.source)
            for output in cell.get("outputs", ()):
                for piece in _output(output, content):
                    _place(content, piece)
    content.headings[:] = [heading for heading in content.headings if heading.level > 1]
    return content


def literals(source: str) -> dict[str, Any]:
    """The parameters a cell assigns; nothing is run: what is no literal is given as its text."""
    try:
        body = ast.parse(source).body
    except SyntaxError:
        return {}
    found = {}
    for node in body:
        match node:
            case (
                ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
                | ast.Assign(targets=[ast.Name(id=name)], value=value)
            ):
                found[name] = _literal(value)
    return found


def _literal(value: ast.expr) -> Any:
    try:
        return ast.literal_eval(value)
    except ValueError:
        return ast.unparse(value)


def slug(words: str, longest: int = 60) -> str:
    """Words as an anchor or a file name: letters a-z, digits and hyphens, whatever they were."""
    plain = unicodedata.normalize("NFKD", words).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain)[:longest].strip("-") or "section"


def _unique(id_: str, taken: set[str]) -> str:
    """An anchor that neither another heading has nor something the page names itself."""
    id_ = f"section-{id_}" if _OURS.fullmatch(id_) else id_
    names = (id_, *(f"{id_}-{n}" for n in range(2, len(taken) + 3)))
    return next(name for name in names if name not in taken)


def _prose(source: str, renderer: Prose, content: Content) -> Piece:
    """A Markdown cell; the first heading of the notebook becomes the title of the page and leaves the text."""
    html = MarkdownWithMath(renderer=renderer).render(source)
    if not content.title and content.headings:
        first = content.headings.pop(0)
        content.title = first.text
        html = re.sub(rf'<h{first.level} id="{first.id}">.*?</h{first.level}>\s*', "", html, count=1, flags=re.DOTALL)
    return Piece("prose", Markup(html))


def _place(content: Content, piece: Piece) -> None:
    match piece.kind:
        case "headlines":
            content.headlines.append(piece)
        case "prose" if not content.pieces and not content.intro:
            content.intro.append(piece)
        case _:
            content.pieces.append(piece)


def _output(output: Any, content: Content) -> Iterator[Piece]:
    match output.output_type:
        case "stream":
            yield from _stream(output)
        case "error":
            trace = strip_ansi("\n".join(output.traceback)) or f"{output.ename}: {output.evalue}"
            yield Piece("error", Markup(f'<pre tabindex="0">{markup.text(trace)}</pre>'))
        case "display_data" | "execute_result":
            yield from _display(output.data, output.metadata.get("trajectory", {}), content)


def _stream(output: Any) -> Iterator[Piece]:
    """What was printed. Progress bars and warnings are for who runs the notebook, not for the page's readers."""
    words = strip_ansi("".join(output.text))
    if words.strip() and output.name == "stdout":
        yield Piece("text", Markup(f'<pre tabindex="0">{markup.text(words)}</pre>'))


def _display(data: Any, meta: dict[str, Any], content: Content) -> Iterator[Piece]:
    kind = meta.get("kind", "")
    if CHART_TYPE in data:
        fluid = meta.get("width") == "container"
        yield Piece("figure", figure=content.store.add(data[CHART_TYPE], fluid=fluid))
    elif kind == "provenance":
        content.synthetic |= bool(meta.get("synthetic"))
        content.unread = content.unread or str(meta.get("unread") or "")
        content.facts |= {str(name): str(value) for name, value in meta.get("facts", {}).items()}
    elif kind == "prose" and "text/markdown" in data:
        yield _prose("".join(data["text/markdown"]), Prose(content.headings), content)
    elif kind == "attention":
        # Noted once, under the headlines it stands with.
        content.attention.append(str(meta.get("sentence", "")))
    elif kind in OURS and "text/html" in data:
        if kind == "notice" and meta.get("sentence"):
            content.attention.append(str(meta["sentence"]))
        yield Piece(kind, Markup(_LAB_STYLE.sub("", "".join(data["text/html"])).replace(markup.LAB_TERM, "")))
    elif kind == "definition":
        return  # The figure above it says it.
    elif image := IMAGES & set(data):
        (type_, *_) = sorted(image)
        source = f"data:{type_};base64,{''.join(data[type_]).strip()}"
        alt = markup.text("".join(data.get("text/plain", "A picture")))
        yield Piece("image", Markup(f'<img src="{markup.text(source)}" alt="{alt}">'))
    elif "text/plain" in data and "application/vnd.jupyter.widget-view+json" not in data:
        words = strip_ansi("".join(data["text/plain"]))
        yield Piece("text", Markup(f'<pre tabindex="0">{markup.text(words)}</pre>'))
