"""C2SP signed-note, tlog-checkpoint and tlog-cosignature."""

import base64
import binascii
import hashlib
import re
from datetime import datetime, timezone

import ed25519

try:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
except ImportError:
    Ed25519PublicKey = None

USE_PLAIN = Ed25519PublicKey is None
LOG, WITNESS = 1, 4
TIME_MAX = 253402300799


def verify_signature(public_key, message, signature):
    if USE_PLAIN:
        return ed25519.verify(public_key, message, signature)
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, message)
        return True
    except (InvalidSignature, ValueError):
        return False


def decode64(text):
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return data if base64.b64encode(data).decode() == text else None


def is_name(name):
    return name != "" and "+" not in name and not any(c.isspace() or ord(c) < 0x20 or ord(c) == 0x7F for c in name)


class Key:
    def __init__(self, text):
        name, key_id, key64 = (text.split("+", 2) + ["", ""])[:3]
        data = decode64(key64) or b""
        own = hashlib.sha256(name.encode() + b"\n" + data).hexdigest()[:8]
        if not is_name(name) or len(data) != 33 or data[0] not in (LOG, WITNESS) or own != key_id:
            raise ValueError("not a verifier key: " + text)
        self.text, self.name, self.key_id, self.kind, self.public_key = text, name, int(key_id, 16), data[0], data[1:]


def parse_note(data):
    """(text, [(name, key id, signature)]) or None."""
    try:
        note = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    if any(ord(c) < 0x20 and c != "\n" for c in note) or not note.endswith("\n"):
        return None
    split = note.rfind("\n\n")
    if split == -1 or split + 2 >= len(note):
        return None
    signatures = []
    for line in note[split + 2 : -1].split("\n"):
        fields = line.split(" ")
        if len(fields) != 3 or fields[0] != "\u2014" or not is_name(fields[1]):
            return None
        signature = decode64(fields[2])
        if signature is None or len(signature) < 5:
            return None
        signatures.append((fields[1], int.from_bytes(signature[:4], "big"), signature[4:]))
    return None if len(signatures) > 100 else (note[: split + 1], signatures)


def verify_note(text, signatures, keys):
    """({key: time or None}, [keys whose signature is wrong]). Unknown keys are ignored."""
    good, bad = {}, []
    for name, key_id, signature in signatures:
        key = next((key for key in keys if key.name == name and key.key_id == key_id), None)
        if key is None:
            continue
        message, time = text.encode(), None
        if key.kind == WITNESS:
            time = int.from_bytes(signature[:8], "big")
            signature = signature[8:]
            message = f"cosignature/v1\ntime {time}\n{text}".encode()
        if len(signature) == 64 and (time or 0) <= TIME_MAX and verify_signature(key.public_key, message, signature):
            good.setdefault(key, time)
        else:
            bad.append(key)
    return good, bad


def instant(seconds):
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.000Z")


class Checkpoint:
    def __init__(self, origin, size, root, good, bad):
        self.origin, self.size, self.root, self.good, self.bad = origin, size, root, good, bad

    def signers(self):
        return [key for key in self.good if key.kind == LOG and key.name == self.origin]


def open_checkpoint(data, keys):
    note = parse_note(data)
    if note is None:
        return None
    lines = note[0][:-1].split("\n")
    if len(lines) < 3 or "" in lines or not re.fullmatch(r"0|[1-9][0-9]{0,15}", lines[1], re.ASCII):
        return None
    root = decode64(lines[2])
    if int(lines[1]) > 2**53 - 1 or root is None or len(root) != 32:
        return None
    return Checkpoint(lines[0], int(lines[1]), root, *verify_note(*note, keys))
