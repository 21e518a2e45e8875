"""Where records come from: a source, named by one string, becomes files, then units of work, then raw records.

`locate` names files, `plan` cuts them into units that can be read apart, `read_unit` streams a unit's raw records.
Knows bytes and containers; nothing of what a record means.
"""

from analysis.sources.choice import Skipped
from analysis.sources.containers.parquet import present
from analysis.sources.containers.plan import plan, whole
from analysis.sources.containers.read import is_cut_wrong, read_unit
from analysis.sources.containers.unit import Damage, Raw, Slice, Unit
from analysis.sources.errors import SourceError
from analysis.sources.hub import RELEASE_ENVIRONMENTS, RELEASE_SCENARIOS, is_release
from analysis.sources.links import readable
from analysis.sources.locate import File, Survey, locate, refuse_changed, refuse_inside, survey
from analysis.sources.names import SUFFIXES

__all__ = [
    "RELEASE_ENVIRONMENTS",
    "RELEASE_SCENARIOS",
    "SUFFIXES",
    "Damage",
    "File",
    "Raw",
    "Skipped",
    "Slice",
    "SourceError",
    "Survey",
    "Unit",
    "is_cut_wrong",
    "is_release",
    "locate",
    "plan",
    "present",
    "read_unit",
    "readable",
    "refuse_changed",
    "refuse_inside",
    "survey",
    "whole",
]
