"""What a schema says of plain values and of lengths, checked: whatever would be lost is an error."""

from typing import Any

from demur.core.fields.schema import BY_TYPE, COMPOSING, FORMATS, STRUCTURAL, Schema, SchemaError, types_of

Place = tuple[str | int, ...]


def types_checked(schema: Schema, at: Place) -> list[str]:
    """The types of a schema. Raises SchemaError for keywords that say nothing of any of them."""
    found = types_of(schema, at)
    lost = [name for name in STRUCTURAL & schema.keys() if not any(name in BY_TYPE[kind] for kind in found)]
    if lost:
        raise SchemaError(f"{', '.join(sorted(lost))} says nothing of type {' or '.join(found)}", at)
    return found


def check_alone(schema: Schema, keyword: str, at: Place) -> None:
    """Raise SchemaError for what stands beside a keyword that says all there is to say."""
    beside = STRUCTURAL | COMPOSING | ({"type"} if keyword not in ("enum", "const") else set[str]())
    if lost := sorted(beside & (schema.keys() - {keyword})):
        raise SchemaError(f"cannot be forced beside {keyword}: {', '.join(lost)}", at)


def text_checked(own: Schema, form: object, at: Place) -> dict[str, Any]:
    """Lengths, pattern or format of a text: what of them can be forced.

    Raises SchemaError for lengths beside a pattern, a pattern that is no text, and as `count_checked` does.
    """
    lengths = {name: count_checked(own[name], (*at, name)) for name in ("minLength", "maxLength") if name in own}
    if "pattern" in own:
        if lengths:
            raise SchemaError(f"cannot be forced beside pattern: {', '.join(lengths)}", at)
        if not isinstance(own["pattern"], str):
            raise SchemaError("pattern has to be text", at)
        return {"pattern": own["pattern"]}
    return lengths or ({"format": form} if isinstance(form, str) and form in FORMATS else {})


def numbers_checked(own: Schema, at: Place) -> dict[str, Any]:
    """The bounds of a number. Raises SchemaError for one that is no number itself."""
    for name, value in own.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise SchemaError("has to be a number", (*at, name))
    return dict(own)


def count_checked(value: object, at: Place) -> int:
    """A length, such as `maxItems`. Raises SchemaError unless it is a whole number in [0, 100,000]."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= 100_000:
        raise SchemaError("has to be a count", at)
    return value
