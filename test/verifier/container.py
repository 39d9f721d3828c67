"""The one zip that docs/evidence-bundle.md allows."""

import re
import struct
import zlib

NAME = re.compile(r"[a-z0-9][a-z0-9._-]*(?:/[a-z0-9][a-z0-9._-]*)*", re.ASCII)


class Unreadable(ValueError):
    pass


def pieces(parts):
    directory, offset = [], 0
    for name in sorted(parts):
        content, encoded = parts[name], name.encode()
        fields = struct.pack(
            "<HHHHHIIIHH", 20, 0, 0, 0, 0x21, zlib.crc32(content), len(content), len(content), len(encoded), 0
        )
        directory.append(b"PK\1\2" + struct.pack("<H", 20) + fields + struct.pack("<HHHII", 0, 0, 0, 0, offset) + encoded)
        yield b"PK\3\4" + fields + encoded
        yield content
        offset += 30 + len(encoded) + len(content)
    size = sum(len(entry) for entry in directory)
    yield from directory
    yield b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, len(directory), len(directory), size, offset, 0)


def read(data):
    """(parts, is canonical)"""
    end = len(data) - 22
    if end < 0 or data[end : end + 4] != b"PK\5\6":
        raise Unreadable("no end of a zip where it must be")
    count, at = struct.unpack_from("<H", data, end + 10)[0], struct.unpack_from("<I", data, end + 16)[0]
    if count == 0xFFFF:
        raise Unreadable("too many parts")
    parts, total = {}, 0
    for _ in range(count):
        if at + 46 > end:
            raise Unreadable("the directory is cut")
        length = struct.unpack_from("<I", data, at + 24)[0]
        name_length = struct.unpack_from("<H", data, at + 28)[0]
        start = struct.unpack_from("<I", data, at + 42)[0] + 30 + name_length
        name = data[at + 46 : at + 46 + name_length].decode("latin-1")
        if not NAME.fullmatch(name) or name in parts or start + length > end:
            raise Unreadable("a name that no part has, twice, or cut")
        total += length
        if total > end:
            raise Unreadable("parts that overlap")
        parts[name] = data[start : start + length]
        at += 46 + name_length
    return parts, b"".join(pieces(parts)) == data
