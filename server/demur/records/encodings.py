"""Telling the text encoding of a file from its bytes."""

import codecs
from collections.abc import Iterator
from typing import BinaryIO

from demur.records.base import RecordsError

CHUNK = 1 << 20
SAMPLE = 1 << 16

BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

LEGACY = ("cp1252", "cp1250", "cp1251", "koi8_r", "gb18030", "big5", "shift_jis", "euc_jp", "euc_kr")
"""Encodings older than Unicode that files still come in. The text decides among them."""

LIKE_WESTERN = {"cp1250": "cp1252"}
"""Western European text reads the same in both where it decodes to the same; the Western one is then meant."""

PROOF_OF_UTF8 = 4
"""So many characters of several bytes do not come about by chance: the file is UTF-8 and damaged."""


def encoding_of(stream: BinaryIO, name: str) -> str:
    """The encoding of a whole file: a byte order mark, else UTF-16 by its zero bytes, else UTF-8 where all of it is,
    else the likeliest of LEGACY. Reads the stream to its end, in constant memory. Raises RecordsError for damage."""
    sample = stream.read(SAMPLE)
    stream.seek(0)
    for mark, encoding in BYTE_ORDER_MARKS:
        if sample.startswith(mark):
            return encoding
    wide = _wide(sample)
    if wide is None and b"\0" in sample:
        raise RecordsError(f"{name}: this is no text, and no format that is known; write it as CSV or JSON Lines")
    return wide or _utf8(stream, name) or _legacy(stream)


def _wide(sample: bytes) -> str | None:
    """UTF-16 or UTF-32 without a mark: in any table or JSON the separators alone leave many zero bytes."""
    size = len(sample) - len(sample) % 4
    zeros = [sample[place:size:4].count(0) * 4 for place in range(4)]
    most, few = size * 0.1, size * 0.01
    if size and min(zeros[1:]) > most and zeros[0] <= few and min(zeros[2:]) > 0.9 * size:
        return "utf-32-le"
    if size and min(zeros[:3]) > most and zeros[3] <= few and min(zeros[:2]) > 0.9 * size:
        return "utf-32-be"
    even, odd = zeros[0] + zeros[2], zeros[1] + zeros[3]
    if odd > 2 * most and even <= 2 * few:
        return "utf-16-le"
    if even > 2 * most and odd <= 2 * few:
        return "utf-16-be"
    return None


def _utf8(stream: BinaryIO, name: str) -> str | None:
    decoder = codecs.getincrementaldecoder("utf-8")()
    line, wide = 1, 0
    for chunk in _chunks(stream):
        try:
            text = decoder.decode(chunk, final=not chunk)
        except UnicodeDecodeError as error:
            before = error.object[: error.start]
            wide += sum(character > "\x7f" for character in before.decode("utf-8"))
            if wide < PROOF_OF_UTF8:
                return None
            line += before.count(b"\n")
            raise RecordsError(
                f"{name} line {line}: the text is UTF-8, but byte 0x{error.object[error.start]:02x} here is not;"
                " mend the line, or save the file as UTF-8"
            ) from None
        line += text.count("\n")
        if not text.isascii():
            wide += sum(character > "\x7f" for character in text)
    return "utf-8"


def _legacy(stream: BinaryIO) -> str:
    from charset_normalizer import from_bytes

    stream.seek(0)
    matches = from_bytes(_telling(stream), cp_isolation=list(LEGACY))
    best = matches.best()
    if best is None:
        return "cp1252"
    equals = [m.encoding for m in matches if m.chaos <= best.chaos and m.coherence >= best.coherence]
    if "cp1252" in equals:  # the commoner one, where the text does not decide: French with ù, Portuguese with ã
        return "cp1252"
    alike = LIKE_WESTERN.get(best.encoding)
    return alike if alike is not None and _same(bytes(best.raw), best.encoding, alike) else best.encoding


def _telling(stream: BinaryIO) -> bytes:
    """The first part of the text that is not plain ASCII, which would say nothing."""
    for chunk in _chunks(stream):
        found = next((at for at, byte in enumerate(chunk) if byte > 127), None)
        if found is not None:
            start = chunk.rfind(b"\n", 0, found) + 1
            return chunk[start : start + SAMPLE]
    return b""


def _same(data: bytes, first: str, second: str) -> bool:
    return data.decode(first, "replace") == data.decode(second, "replace")


def _chunks(stream: BinaryIO) -> Iterator[bytes]:
    """The rest of a stream, an empty chunk last."""
    while True:
        chunk = stream.read(CHUNK)
        yield chunk
        if not chunk:
            return
