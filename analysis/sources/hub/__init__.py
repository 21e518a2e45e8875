"""Data sets of the hub: `hub:OWNER/NAME[@REVISION][:FILE]` -> the named file on this disk, and no other file.

`huggingface_hub` fetches, because the raw bytes are wanted: `datasets.load_dataset` would merge every file of the
repository into one Arrow copy with inferred types, in which `"{}"` and `{}` are the same arguments and an absent key
is a null. What it publishes as Parquet is read as well: name the Parquet file.

The revision is resolved to a commit first and returned, so that a manifest says exactly what was read. A download goes
on where a broken connection, or a run that was killed, left it; what has arrived is checked against the hub's own
checksum before anybody sees it.
Where the hub cannot be reached, an earlier copy is used, and said out loud.
"""

from analysis.sources.hub.download import HubFile
from analysis.sources.hub.names import RELEASE_ENVIRONMENTS, RELEASE_SCENARIOS, HubError, HubName, is_release, parse
from analysis.sources.hub.snapshot import Snapshot, fetch

__all__ = [
    "RELEASE_ENVIRONMENTS",
    "RELEASE_SCENARIOS",
    "HubError",
    "HubFile",
    "HubName",
    "Snapshot",
    "fetch",
    "is_release",
    "parse",
]
