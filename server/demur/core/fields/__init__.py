"""JSON answers in which every value says how sure it is: a caller's JSON Schema -> the form that is forced -> fields.

In the forced form each plain value (text, number, true, false, null) is a pair of the value and the chance in percent
that it is right. A pair begins with a plain value and a list of values never does, so a document in this form is read
without its schema.
"""

from demur.core.fields.document import Json, Unreadable, canonical, pointer, read_document, with_nulls
from demur.core.fields.schema import ANY_OBJECT, SchemaError
from demur.core.fields.validation import is_valid
from demur.core.fields.wrapping import paired_schema

__all__ = [
    "ANY_OBJECT",
    "Json",
    "SchemaError",
    "Unreadable",
    "canonical",
    "is_valid",
    "paired_schema",
    "pointer",
    "read_document",
    "with_nulls",
]
