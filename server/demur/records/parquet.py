"""Parquet, streamed by its row groups."""

from collections.abc import Iterator
from typing import BinaryIO

from demur.records.base import Record, RecordsError


def parquet_records(stream: BinaryIO, name: str) -> Iterator[Record]:
    """The rows of a Parquet file as dicts. Raises RecordsError where it is damaged, or without pyarrow."""
    try:
        import pyarrow as arrow
        import pyarrow.parquet as parquet
    except ImportError:
        raise RecordsError(f"{name}: Parquet needs pyarrow: pip install 'demur[evaluation]'") from None
    number = 0
    try:
        for batch in parquet.ParquetFile(stream).iter_batches():
            for row in batch.to_pylist():
                number += 1
                yield Record(number, f"{name} row {number}", row)
    except (arrow.ArrowException, ValueError, OSError) as error:
        raise RecordsError(f"{name}: damaged Parquet: {error}") from None
