"""A conversation under another name than `messages`: `history`, `trajectory`, `turns`, `conversation`, …"""

from analysis.records import facts
from analysis.records.conversation import finish, read_words
from analysis.records.dialects.dialect import Dialect
from analysis.records.model import Trajectory
from analysis.records.record import Record
from analysis.records.shape import CONVERSATIONS, shape_of

NAME = "wrapped"


def matches(record: Record) -> bool:
    shape = shape_of(record)
    return bool(shape.roles) and shape.member != "messages"


def read(record: Record) -> Trajectory:
    return finish(record, NAME, read_words(record, shape_of(record).member))


DIALECT = Dialect(
    names=(NAME,),
    origin="Conversations under another name",
    mark="a list of messages under " + ", ".join(f"`{key}`" for key in CONVERSATIONS[2:]),
    needs=("conversation",),
    example='{"conversation": [{"role": "user", "content": "Go."}, {"role": "assistant", "content": "Done."}]}',
    keys=facts.KEYS | {*CONVERSATIONS, "system", "info"},
    bodies=frozenset({*CONVERSATIONS, "system"}),
    matches=matches,
    read=read,
)
