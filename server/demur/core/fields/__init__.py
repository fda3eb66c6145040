"""JSON answers in which every value says how sure it is: a caller's JSON Schema -> the form that is forced -> fields.

In the forced form each plain value (text, number, true, false, null) is a pair of the value and the chance in percent
that it is right. A pair begins with a plain value and a list of values never does, so a document in this form is read
without its schema.
"""

from demur.core.fields.document import Json, canonical, pointer, with_nulls, written
from demur.core.fields.nullable import can_all_be_null
from demur.core.fields.reading import DocumentReader, plain, read_document
from demur.core.fields.scanner import Unreadable
from demur.core.fields.schema import ANY_OBJECT, SchemaError
from demur.core.fields.validation import is_valid
from demur.core.fields.wrapping import paired_schema

__all__ = [
    "ANY_OBJECT",
    "DocumentReader",
    "Json",
    "SchemaError",
    "Unreadable",
    "can_all_be_null",
    "canonical",
    "is_valid",
    "paired_schema",
    "plain",
    "pointer",
    "read_document",
    "with_nulls",
    "written",
]
