"""Files -> units -> raw records: JSON arrays, single objects, JSON Lines, Parquet, detected from the content.

Records of a text file are cut out here, not parsed, and by no library. Those we know (`ijson`, `msgspec`, `orjson`,
Polars, DuckDB, `datasets`) parse: they stop at the first broken byte, so that one broken record costs all behind it;
they say nothing of where a record stands, which a rejection names and a transcript reads again; they start at a file's
first byte, so that two processes cannot share one file; and what they return is no longer what was written, whereas the
arguments of a call are kept to the byte. The one that streams, `ijson`, is also many times slower.

Records are cut in one of two ways:

- by lines, where every record starts a line of its own (JSON Lines; an array with an indent): ranges of bytes are then
  slices that can be read apart, and a broken record cannot touch its neighbours;
- by brackets, for every other layout: one slice per file. Each record ends where its JSON does. What is no JSON is
  given up at the next place where a record starts, so that one broken record is one rejected record.

A cut that turns out wrong (a line that looks like a record's start inside a record) is noticed, and the file is read by
brackets instead.

The list of records in a wrapper (`{"model": …, "simulations": [record, …]}`), an array in an array, and a conversation
that no object surrounds (`[{"role": …}, …]`) are shapes of containers too. What is handed on of a record is the JSON
text of an object, or of an array of messages.

From the bottom: `unit` (types), `packed` (bytes of a file, unpacked), `window` (a buffer over them), `extent` (where
JSON ends), `shapes` (message, record or wrapper), `sniff` (which container), `resync` (where the next record starts),
`wrapped`, `lines`, `brackets` and `parquet` (slices -> raw records), `plan` (files -> units), `read` (units -> raw
records).
"""
