"""Checks of a scenario: what must hold in the final state, as a sentence and as Python source, which replay asks."""

from analysis.sample.naming import environment
from analysis.sample.scenarios import Scenario

Check = dict[str, str]


def checklist(played: Scenario) -> list[Check]:
    """One check for every field that a faultless run changes, and for every record it adds or removes."""
    checks: list[Check] = []
    for entity in environment(played.index, played.seed).entities.values():
        before, after = played.initial[entity.many], played.final[entity.many]
        for record_id in sorted({*before, *after}):
            old, new = before.get(record_id), after.get(record_id)
            if old is None or new is None:
                word = "added" if old is None else "removed"
                checks.append(
                    _check(f"Has {entity.words} `{record_id}` been {word}?", entity.many, record_id, new is not None)
                )
                continue
            checks.extend(
                _check(
                    f"Is `{column}` of `{record_id}` now `{new[column]}`?", entity.many, record_id, new[column], column
                )
                for column in new
                if new[column] != old[column]
            )
    return checks or [{"check_item": "Has nothing been changed?", "check_func": _source("    return True")}]


def _check(item: str, many: str, record_id: str, wanted: object, column: str = "") -> Check:
    record = f"final_state.get({many!r}, {{}}).get({record_id!r})"
    if column:
        body = f"    record = {record} or {{}}\n    return record.get({column!r}) == {wanted!r}"
    else:
        body = f"    return {record} is {'not ' if wanted else ''}None"
    return {"check_item": item, "check_func": _source(body)}


def _source(body: str) -> str:
    return f"def check_func(final_state):\n{body}\n"
