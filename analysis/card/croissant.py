"""A source as Croissant 1.1: its files with their checksums, and the columns of tables that were made of them.

Format: MLCommons, Croissant Format Specification 1.1. A test lets `mlcroissant` validate and read what is written.
"""

from collections.abc import Mapping, Sequence
from glob import escape
from typing import Any, NamedTuple
from urllib.parse import quote

from polars.datatypes import DataType

from analysis.card.distribution import Described
from analysis.schema import BASE_TABLES, Column, Table

VERSION = "http://mlcommons.org/croissant/1.1"
_CROISSANT = (
    "annotation arrayShape citeAs column containedIn equivalentProperty extract field fileObject fileProperty fileSet "
    "format includes isArray isLiveDataset jsonPath key md5 parentField path recordSet references regex repeated "
    "replace samplingRate separator source subField transform value"
)
# The context that the specification recommends: what is Croissant's own, and how values are to be read.
CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "name": {"@container": "@language"},
    "description": {"@container": "@language"},
    "data": {"@id": "cr:data", "@type": "@json"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    **{term: f"cr:{term}" for term in _CROISSANT.split()},
}


# Made anew each time; whatever else a document says was said by its author.
_MADE = frozenset({"@context", "@type", "conformsTo", "name", "description", "distribution", "recordSet"})
_TERMS = {"languages": "inLanguage", "published": "datePublished", "citation": "citeAs"}


class Given(NamedTuple):
    """What only the author knows; an empty text where it was not said."""

    name: str = ""
    license: str = ""
    languages: tuple[str, ...] = ()
    url: str = ""
    creator: str = ""
    published: str = ""
    version: str = ""
    citation: str = ""


def document(
    name: str,
    description: str,
    files: Sequence[Described],
    tables: Sequence[str],
    folder: str,
    given: Given,
    before: Mapping[str, Any],
) -> dict[str, Any]:
    """The metadata of a data set.

    Args:
        name, description: of the data set.
        files: those of the source.
        tables: names of the base tables that were written, none where they were not.
        folder: path from the Croissant file to their folder.
        given: what the author said.
        before: the document that this one replaces: what else an author has put into it is kept.

    Returns:
        JSON-LD. What nobody gave is left out: a placeholder would be read as a value.
    """
    found = [table for table in BASE_TABLES if table.name in tables]
    known = {
        "license": given.license,
        "url": given.url,
        "creator": {"@type": "sc:Organization", "name": given.creator} if given.creator else None,
        "datePublished": given.published,
        "version": given.version,
        "citeAs": given.citation,
        "inLanguage": list(given.languages),
    }
    said = {key: value for key, value in before.items() if key not in _MADE}
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": VERSION,
        "name": name,
        "description": description,
        **said,
        **{key: value for key, value in known.items() if value},
        "distribution": [*map(_file, files), *(_parts(table, folder) for table in found)],
        "recordSet": [_records(table) for table in found],
    }


def missing(about: Mapping[str, Any], given: Given) -> tuple[str, ...]:
    """What nobody gave, of what the specification or the hub asks for, by the names of `Given`."""
    told = {name: about.get(_TERMS.get(name, name)) for name in given._fields} | {"name": given.name}
    return tuple(name for name, value in told.items() if not value)


def _file(file: Described) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        # An id is read as an address, and a file's name may hold anything.
        "@id": f"files/{quote(file.name)}",
        "name": file.name,
        "contentUrl": file.url,
        "contentSize": f"{file.size} B",
        "encodingFormat": file.encoding,
        "sha256": file.sha256,
    }


def _parts(table: Table, folder: str) -> dict[str, Any]:
    return {
        "@type": "cr:FileSet",
        "@id": f"parquet/{table.name}",
        "name": f"{table.name} as Parquet",
        "description": f"One row per {table.grain}; made of the source by `python -m analysis tables`.",
        "encodingFormat": "application/x-parquet",
        "includes": f"{escape(folder)}/{table.name}/*.parquet",
    }


def _records(table: Table) -> dict[str, Any]:
    key = [{"@id": f"{table.name}/{name}"} for name in table.key]
    return {
        "@type": "cr:RecordSet",
        "@id": table.name,
        "name": table.name,
        "description": f"One row per {table.grain}.",
        **({"key": key} if key else {}),
        "field": [_field(table, column) for column in table],
    }


def _field(table: Table, column: Column) -> dict[str, Any]:
    facts = [column.meaning, f"in {column.unit}" if column.unit else "", "may be absent" if column.nullable else ""]
    return {
        "@type": "cr:Field",
        "@id": f"{table.name}/{column.name}",
        "name": column.name,
        "description": "; ".join(fact for fact in facts if fact),
        "dataType": _data_type(column.dtype),
        "source": {"fileSet": {"@id": f"parquet/{table.name}"}, "extract": {"column": column.name}},
    }


def _data_type(dtype: DataType) -> str:
    """Croissant's widths of numbers know no absent value: an integer is one of any width."""
    if dtype.is_integer():
        return "sc:Integer"
    if dtype.is_float():
        return "sc:Float"
    return "sc:Boolean" if str(dtype) == "Boolean" else "sc:Text"
