#!/usr/bin/env python3
"""A second verifier of evidence bundles, written from docs/evidence-bundle.md alone; Python's library, and cryptography where it is.

usage: verify.py [--witness KEY]... [--witnesses-min N] [--kept FILE]... [--plain] [--json] --key KEY... BUNDLE...

One line of JSON per bundle with --json; otherwise findings in words. Exit code 1 when there is any finding.
"""

import argparse
import json
import re
import sys

import notes
from container import Unreadable, read
from entries import Approvals, Causes, Objects, Streams, Units, digest, is_count, is_digest, read_entry
from jcs import NotCanonical, parse
from tree import cover_root, is_consistent, roots_at

FORMAT = "countersign/evidence-bundle/1"
FIXED = ("entries.ndjson", "proof.json", "consistency.json", "keys.json", "report.html", "readme.txt")
KNOWN = re.compile(r"checkpoints/[0-9]{6}\.txt|objects/[0-9a-f]{64}\.json", re.ASCII)
INSTANT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z", re.ASCII)
HASH = re.compile(r"[0-9a-f]{64}", re.ASCII)
UNSAFE = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]"
)


def has(value, names):
    return isinstance(value, dict) and sorted(value) == sorted(names.split())


def is_instant(value):
    return isinstance(value, str) and INSTANT.fullmatch(value) is not None


def is_manifest(value):
    if not has(value, "createdAt format origin parts scope snapshots tenant treeSize"):
        return False
    scope, parts, snapshots = value["scope"], value["parts"], value["snapshots"]
    is_range = has(scope, "from kind to") and scope["kind"] == "range" and is_count(scope["from"]) and is_count(scope["to"])
    is_selection = has(scope, "kind of") and scope["kind"] == "selection" and isinstance(scope["of"], str)
    return (
        value["format"] == FORMAT
        and isinstance(value["origin"], str)
        and is_instant(value["createdAt"])
        and (value["tenant"] is None or isinstance(value["tenant"], str))
        and is_count(value["treeSize"])
        and (is_selection or (is_range and scope["from"] <= scope["to"]))
        and isinstance(parts, list)
        and all(has(p, "bytes digest name") and is_count(p["bytes"]) and is_digest(p["digest"]) for p in parts)
        and all(isinstance(p["name"], str) for p in parts)
        and all(parts[at]["name"] < parts[at + 1]["name"] for at in range(len(parts) - 1))
        and isinstance(snapshots, list)
        and all(has(s, "digest name") and is_digest(s["digest"]) and isinstance(s["name"], str) for s in snapshots)
    )


def are_hashes(value):
    return isinstance(value, list) and all(isinstance(item, str) and HASH.fullmatch(item) for item in value)


def is_proof(value):
    return has(value, "hashes") and are_hashes(value["hashes"])


def is_consistency(value):
    return isinstance(value, list) and all(
        has(item, "first hashes second") and is_count(item["first"]) and is_count(item["second"]) and are_hashes(item["hashes"])
        for item in value
    )


def are_keys(value):
    return isinstance(value, list) and all(
        has(item, "fromSize fromTime key toSize toTime use")
        and is_count(item["fromSize"])
        and is_instant(item["fromTime"])
        and (item["toSize"] is None or is_count(item["toSize"]))
        and (item["toTime"] is None or is_instant(item["toTime"]))
        and isinstance(item["key"], str)
        and item["use"] in ("log", "witness")
        for item in value
    )


class Verifier:
    def __init__(self, parts, trust):
        self.parts, self.trust, self.findings, self.manifest = parts, trust, [], None

    def found(self, code, part=None, position=None, event_id=None):
        self.findings.append({"code": code, "part": part, "position": position, "eventId": event_id})

    def found_at(self, code, entry):
        event_id = None if entry.is_hidden else entry.leaf["eventId"]
        self.found(code, "entries.ndjson", entry.position, event_id)

    def json_part(self, name, is_good):
        if name not in self.parts:
            self.found("part_missing", name)
            return None
        try:
            value = parse(self.parts[name])
        except NotCanonical:
            value = None
        if not is_good(value):
            self.found("part_malformed", name)
            return None
        return value

    def run(self):
        self.manifest = self.json_part("manifest.json", is_manifest)
        if self.manifest is None:
            return
        self.check_parts()
        self.check_texts()
        self.statements = self.json_part("keys.json", are_keys) or []
        self.check_manifest_note()
        self.read_entries()
        self.proof = [bytes.fromhex(text) for text in (self.json_part("proof.json", is_proof) or {"hashes": []})["hashes"]]
        self.consistency = self.json_part("consistency.json", is_consistency) or []
        self.read_checkpoints()
        self.check_checkpoints()
        self.check_witnesses()
        self.check_kept()

    def check_parts(self):
        listed = {part["name"] for part in self.manifest["parts"]}
        for part in self.manifest["parts"]:
            name, content = part["name"], self.parts.get(part["name"])
            if content is None:
                self.found("part_missing", name)
            elif len(content) != part["bytes"] or digest(content) != part["digest"]:
                self.found("part_changed", name)
            if name not in FIXED and not KNOWN.fullmatch(name):
                self.found("part_unknown", name)
        for name in self.parts:
            if name not in ("manifest.json", "manifest.note") and name not in listed:
                self.found("part_unknown", name)

    def check_texts(self):
        for name in ("readme.txt", "report.html"):
            if name not in self.parts:
                self.found("part_missing", name)
                continue
            try:
                if UNSAFE.search(self.parts[name].decode("utf-8")):
                    self.found("text_unsafe", name)
            except UnicodeDecodeError:
                self.found("part_malformed", name)

    def in_use(self, keys, use, part, size=None, time=None):
        listed = {key: [s for s in self.statements if s["key"] == key.text and s["use"] == use] for key in keys}
        listed = {key: windows for key, windows in listed.items() if windows}
        if not listed:
            self.found("key_unlisted", part)
            return False
        own = self.trust.windows
        if any(all(within(w, size, time) for w in windows + own.get(key.text, [])) for key, windows in listed.items()):
            return True
        self.found("key_out_of_window", part)
        return False

    def check_manifest_note(self):
        part, origin = "manifest.note", self.manifest["origin"]
        if part not in self.parts:
            self.found("part_missing", part)
            return
        note = notes.parse_note(self.parts[part])
        expected = f"{FORMAT}\n{origin}\n{digest(self.parts['manifest.json'])}\n"
        if note is None or note[0] != expected:
            self.found("manifest_unsigned", part)
            return
        good, bad = notes.verify_note(*note, self.trust.keys)
        signers = [key for key in good if key.name == origin]
        if not signers or bad:
            self.found("manifest_unsigned", part)
            return
        self.in_use(signers, "log", part, time=self.manifest["createdAt"])

    def read_entries(self):
        manifest, scope = self.manifest, self.manifest["scope"]
        is_range = scope["kind"] == "range"
        low = scope["from"] if is_range else 0
        high = min(scope["to"], manifest["treeSize"]) if is_range else manifest["treeSize"]
        rules = [
            Streams(manifest, self.found_at),
            Units(self.found_at),
            Causes(manifest, self.found_at),
            Objects(self.parts, manifest, self.found_at, self.found),
            Approvals(manifest, self.found_at),
        ]
        self.positions, self.leaves, self.is_readable = [], [], True
        data = self.parts.get("entries.ndjson")
        if data is None:
            self.found("part_missing", "entries.ndjson")
        last, following = -1, low
        lines = (data or b"").split(b"\n")
        end = lines.pop()
        for line in lines + ([None] if end else []):
            entry, problem = (None, "entry_malformed") if line is None else read_entry(line)
            if entry is None:
                self.is_readable = False
                self.found(problem, "entries.ndjson", following if is_range else None)
                following += 1
                continue
            if problem is not None:
                self.found_at(problem, entry)
            if entry.position <= last:
                self.found_at("position_repeated" if entry.position == last else "position_out_of_order", entry)
            elif not low <= entry.position < high:
                self.found_at("position_out_of_scope", entry)
            else:
                if is_range and entry.position > following:
                    self.found("position_missing", "entries.ndjson", following)
                last, following = entry.position, entry.position + 1
                self.positions.append(entry.position)
                self.leaves.append(entry.hash)
                for rule in rules:
                    rule.see(entry)
        if is_range and following < scope["to"]:
            self.found("position_missing", "entries.ndjson", following)
        for rule in rules:
            rule.end()

    def is_whole(self):
        return self.is_readable and len(self.positions) == self.manifest["treeSize"]

    def read_checkpoints(self):
        numbers = [int(name[12:18]) for name in self.parts if re.fullmatch(r"checkpoints/[0-9]{6}\.txt", name, re.ASCII)]
        self.checkpoints, origin = [], self.manifest["origin"]
        for n in range(1, max(numbers + [1]) + 1):
            part = f"checkpoints/{n:06}.txt"
            if part not in self.parts:
                self.found("part_missing", part)
                continue
            opened = notes.open_checkpoint(self.parts[part], self.trust.keys + self.trust.witnesses)
            if opened is None:
                self.found("part_malformed", part)
                continue
            opened.part = part
            if opened.origin != origin:
                self.found("origin_differs", part)
                continue
            if any(key.kind == notes.WITNESS for key in opened.bad):
                self.found("witness_invalid", part)
            if not opened.signers() or any(key.kind == notes.LOG for key in opened.bad):
                self.found("checkpoint_unsigned", part)
            elif self.in_use(opened.signers(), "log", part, size=opened.size):
                self.checkpoints.append(opened)

    def continues(self, first, second):
        given = next((c for c in self.consistency if c["first"] == first.size and c["second"] == second.size), None)
        if given is None and first.size not in (0, second.size):
            return None
        hashes = [bytes.fromhex(text) for text in (given or {"hashes": []})["hashes"]]
        return is_consistent(first.size, first.root, second.size, second.root, hashes)

    def check_checkpoints(self):
        for before, current in zip(self.checkpoints, self.checkpoints[1:]):
            if current.size < before.size:
                self.found("checkpoint_size_down", current.part)
                continue
            continues = self.continues(before, current)
            if continues is False:
                self.found("checkpoints_inconsistent", current.part)
            if continues is None and not self.is_whole():
                self.found("consistency_missing", current.part)
        if not self.checkpoints:
            return
        last = self.checkpoints[-1]
        if last.size != self.manifest["treeSize"]:
            self.found("tree_size_differs", last.part)
        elif self.is_whole():
            self.check_computed()
        elif self.is_readable:
            root = cover_root(self.positions, self.leaves, self.proof, self.manifest["treeSize"])
            if root is None:
                self.found("proof_malformed", "proof.json")
            elif root != last.root:
                self.found("root_differs", last.part)

    def check_computed(self):
        ordered = sorted(self.checkpoints, key=lambda checkpoint: checkpoint.size)
        roots, good = roots_at(self.leaves, [checkpoint.size for checkpoint in ordered]), 0
        for checkpoint in ordered:
            if roots[checkpoint.size] != checkpoint.root:
                self.found("root_differs", checkpoint.part, good)
                return
            good = checkpoint.size

    def check_witnesses(self):
        last = self.checkpoints[-1] if self.checkpoints else None
        names = set()
        for key, time in (last.good if last else {}).items():
            if time is not None and self.in_use([key], "witness", last.part, time=notes.instant(time)):
                names.add(key.name)
        if len(names) < self.trust.witnesses_min:
            self.found("witness_missing", last.part if last else None)
        self.is_witnessed = len(names) > 0

    def check_kept(self):
        held = 0
        for at, note in enumerate(self.trust.kept):
            code = self.judge_kept(notes.open_checkpoint(note, self.trust.keys))
            if code is None:
                held += 1
            else:
                self.found(code, f"kept checkpoint {at + 1}")
        self.is_witnessed = self.is_witnessed or (bool(self.trust.kept) and held == len(self.trust.kept))

    def judge_kept(self, kept):
        if kept is None or not kept.signers() or kept.bad:
            return "kept_checkpoint_unusable"
        if kept.origin != self.manifest["origin"]:
            return "kept_checkpoint_differs"
        if not self.checkpoints:
            return "kept_checkpoint_unproven"
        last = self.checkpoints[-1]
        if kept.size > last.size:
            return "kept_checkpoint_ahead"
        root = next((checkpoint.root for checkpoint in self.checkpoints if checkpoint.size == kept.size), None)
        if root is None and self.is_whole():
            root = roots_at(self.leaves, [kept.size])[kept.size]
        if root is not None:
            return None if root == kept.root else "kept_checkpoint_differs"
        continues = self.continues(kept, last)
        return "kept_checkpoint_unproven" if continues is None else None if continues else "kept_checkpoint_differs"


def within(window, size, time):
    if size is not None:
        return window["fromSize"] <= size and (window["toSize"] is None or size <= window["toSize"])
    return window["fromTime"] <= time and (window["toTime"] is None or time <= window["toTime"])


class Trust:
    def __init__(self, keys, witnesses=(), witnesses_min=None, kept=(), windows=None):
        self.keys = [notes.Key(text) for text in keys]
        self.witnesses = [notes.Key(text) for text in witnesses]
        self.witnesses_min = min(1, len(self.witnesses)) if witnesses_min is None else witnesses_min
        self.kept, self.windows = list(kept), windows or {}


def verify(data, trust):
    """{findings, statements}"""
    try:
        parts, is_canonical = read(data)
    except Unreadable:
        return {"findings": [{"code": "container_unreadable", "part": None, "position": None, "eventId": None}], "statements": []}
    verifier = Verifier(parts, trust)
    if not is_canonical:
        verifier.found("container_not_canonical")
    verifier.run()
    is_witnessed = getattr(verifier, "is_witnessed", True)
    statements = [] if is_witnessed else ["truncation_not_excluded"]
    return {"findings": verifier.findings, "statements": statements}


def read_file(name):
    with open(name, "rb") as file:
        return file.read()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--key", action="append", default=[])
    parser.add_argument("--witness", action="append", default=[])
    parser.add_argument("--witnesses-min", type=int)
    parser.add_argument("--kept", action="append", default=[])
    parser.add_argument("--plain", action="store_true", help="do not use the cryptography package")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--batch", help="a JSON file: a list of {bundle, keys, witnesses, kept, windows}")
    parser.add_argument("bundles", nargs="*")
    given = parser.parse_args()
    notes.USE_PLAIN = notes.USE_PLAIN or given.plain
    if given.batch:
        for job in json.loads(read_file(given.batch)):
            kept = [note.encode() for note in job["kept"]]
            trust = Trust(job["keys"], job["witnesses"], job["witnessesMin"], kept, job["windows"])
            print(json.dumps(verify(read_file(job["bundle"]), trust)))
        return 0
    trust = Trust(given.key, given.witness, given.witnesses_min, [read_file(name) for name in given.kept])
    has_findings = False
    for name in given.bundles:
        verdict = verify(read_file(name), trust)
        has_findings = has_findings or bool(verdict["findings"])
        if given.json:
            print(json.dumps(verdict))
            continue
        for finding in verdict["findings"]:
            print(name, *(f"{key}={value}" for key, value in finding.items() if value is not None))
        for statement in verdict["statements"]:
            print(name, "note:", "cannot exclude truncation" if statement == "truncation_not_excluded" else statement)
        print(name, "findings:", len(verdict["findings"]))
    return 1 if has_findings else 0


if __name__ == "__main__":
    sys.exit(main())
