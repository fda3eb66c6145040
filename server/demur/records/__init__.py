"""Records out of files as people have them: the one reader of row files.

JSON Lines, a JSON array or table, CSV, TSV and Parquet, compressed or not, in any common text encoding; format,
compression and encoding are told from the content. It needs nothing but charset-normalizer, and pyarrow for Parquet.

base.py        a record, its place, the error     json_text.py   JSON Lines and whole JSON documents
source.py      opening and unpacking              delimited.py   CSV and TSV
encodings.py   telling the text encoding          reading.py     which of them a file is
"""

from demur.records.base import SUFFIXES, Record, RecordsError, fields_of, has_known_suffix, printable
from demur.records.reading import read_records

__all__ = ["SUFFIXES", "Record", "RecordsError", "fields_of", "has_known_suffix", "printable", "read_records"]
