"""The documentation of the API: pdoc's pages of every module, with the dictionary and the method among them.

    python -m analysis.reference.site reports/docs

The pages ask nothing of a network: pdoc writes its style and its search into them.
"""

import importlib
import pkgutil
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import pdoc.doc
import pdoc.extract
import pdoc.render

import analysis
from analysis.reference import words
from analysis.wording import count

# Two pages that belong to no module stand beside them as modules that hold nothing but their text.
PAGES = {"data_dictionary": words.dictionary_page, "method": words.method_page}


def build(folder: Path) -> list[Path]:
    """Write the pages, the index and the search, in a process that does nothing else: every module is loaded.

    Returns:
        The pages written, the index among them.

    Raises:
        OSError: the folder cannot be written.
    """
    import papermill  # noqa: F401, PLC0415  loads analysis.report.engine by its entry point, and must be the first to

    pdoc.render.configure(docformat="google", show_source=False)
    _open(analysis)
    with warnings.catch_warnings():
        # Other people's classes, of which ours are made.
        warnings.filterwarnings("ignore", r"Error parsing type annotation .* for (?!analysis\.)")
        modules = {name: _page(name, text()) for name, text in PAGES.items()}
        modules |= {name: pdoc.doc.Module.from_name(name) for name in pdoc.extract.walk_specs(["analysis"])}
        rendered = {f"{n.replace('.', '/')}.html": pdoc.render.html_module(m, modules) for n, m in modules.items()}
        rendered["index.html"] = pdoc.render.html_index(modules)
        search = pdoc.render.search_index(modules)
    for name, text in {**rendered, "search.js": search}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    return [folder / name for name in rendered]


def _open(package: ModuleType) -> None:
    """Let pdoc see all of a package: it takes `__all__` for the list of its modules too, and asks no `__getattr__`."""
    modules = list(pkgutil.iter_modules(package.__path__))
    for name in (listed := list(getattr(package, "__all__", ()))):
        vars(package)[name] = getattr(package, name)
    if listed:
        vars(package)["__all__"] = [*listed, *(info.name for info in modules if not info.name.startswith("_"))]
    for info in modules:
        if info.ispkg:
            _open(importlib.import_module(f"{package.__name__}.{info.name}"))


def _page(name: str, text: str) -> pdoc.doc.Module:
    module = ModuleType(name, text)
    vars(module)["__docformat__"] = "markdown"
    return pdoc.doc.Module(module)


def main(arguments: Sequence[str]) -> int:
    """Build the pages into the folder named; 2 when none is."""
    if len(arguments) != 1:
        print("usage: python -m analysis.reference.site FOLDER", file=sys.stderr)
        return 2
    pages = build(Path(arguments[0]))
    print(f"{count(len(pages), 'page')}: {Path(arguments[0]) / 'index.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
