"""Whether every plain value that fits a schema may be null in its place, whatever stands around it."""

from collections.abc import Iterator
from typing import Any

from demur.core.fields.schema import BY_TYPE, Definitions, Schema, literals_of, mapping, types_of


def can_all_be_null(schema: Schema) -> bool:
    """Whether every plain value that fits a schema may be null: then no doubtful value has to withhold the document.

    For schemas that `paired_schema` takes.
    """
    definitions = Definitions(schema)
    places, known = [schema], set[int]()
    while places:
        place = places.pop()
        if id(place) in known:
            continue
        known.add(id(place))
        branches = list(_branches(place, definitions))
        plain = any(_is_plain(branch) for branch in branches)
        if plain and not any(_takes_null(branch) for branch in branches):
            return False
        if any(isinstance(value, (dict, list)) for branch in branches for value in _literals(branch)):
            return False
        places += [inner for branch in branches for inner in _inner(branch)]
    return True


def _branches(schema: Any, definitions: Definitions) -> Iterator[Any]:
    """What a place may hold, without references and unions. Each reference is followed once."""
    waiting, followed = [schema], set[str]()
    while waiting:
        one = waiting.pop()
        said = dict[str, Any]() if isinstance(one, bool) else one
        keyword = next((name for name in ("anyOf", "oneOf", "allOf") if name in said), None)
        if keyword is not None:
            waiting += said[keyword]
        elif "$ref" in said:
            if said["$ref"] not in followed:
                followed.add(said["$ref"])
                waiting.append(definitions.find(said["$ref"]))
        else:
            yield one


def _literals(branch: Any) -> list[Any]:
    """Those that a place has to be one of: inside lists and objects of them nothing may be null."""
    said = dict[str, Any]() if isinstance(branch, bool) else mapping(branch, ())
    return literals_of(said, ()) if said.keys() & {"const", "enum"} else []


def _kinds(branch: Any) -> list[str]:
    return list(BY_TYPE) if isinstance(branch, bool) else types_of(branch, ())


def _is_plain(branch: Any) -> bool:
    if literals := _literals(branch):
        return any(value is not None and not isinstance(value, (dict, list)) for value in literals)
    return branch is not False and any(kind not in ("object", "array", "null") for kind in _kinds(branch))


def _takes_null(branch: Any) -> bool:
    if literals := _literals(branch):
        return None in literals
    return branch is not False and "null" in _kinds(branch)


def _inner(branch: Any) -> Iterator[Any]:
    if isinstance(branch, bool) or _literals(branch):
        return
    described = mapping(branch, ())
    yield from described.get("properties", {}).values()
    yield from described.get("prefixItems", [])
    yield from (described[name] for name in ("items", "additionalProperties") if name in described)
