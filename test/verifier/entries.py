"""The rules over the lines of entries.ndjson, each told of every entry in order of position."""

import hashlib
import re

from jcs import NotCanonical, canonical, parse
from tree import leaf_hash

DIGEST = re.compile(r"sha256:[0-9a-f]{64}", re.ASCII)
PLAIN = re.compile(r"[ -\[\]-~]*", re.ASCII)
TEXTS = (
    "causeKind correlationId eventId eventType occurredAt producer recordedAt streamId streamKind tenant unitId versionSetId"
).split()
MEMBERS = set(TEXTS) | set(
    (
        "actor approvalId artifactId capabilityId causationId commandId credentialLeaseId feedbackId payloadCommitment"
        " policyDecisionId reasoningObjectId runId schemaVersion sessionId skillId stepId synthetic toolCallId turnId"
        " unitIndex unitSize version"
    ).split()
)


def is_digest(value):
    return isinstance(value, str) and DIGEST.fullmatch(value) is not None


def is_count(value):
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 2**53 - 1


def digest(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


def json_digest(value):
    return digest(canonical(value).encode())


def text(value):
    return value if isinstance(value, str) else ""


def number(value):
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else -1


def equal(left, right):
    """Equality of JSON, where true is not 1."""
    return canonical(left) == canonical(right)


class Entry:
    def __init__(self, position, leaf, payload, own_hash):
        self.position, self.leaf, self.payload, self.hash = position, leaf, payload, own_hash
        self.is_hidden, self.is_open = leaf is None, payload is not None


def is_leaf(leaf):
    if not isinstance(leaf, dict) or not set(leaf) <= MEMBERS or not is_digest(leaf.get("payloadCommitment")):
        return False
    counts = [leaf.get(name) for name in ("version", "unitIndex", "unitSize", "schemaVersion")]
    return (
        all(isinstance(leaf.get(name), str) for name in TEXTS)
        and "causationId" in leaf
        and (leaf["causationId"] is None or isinstance(leaf["causationId"], str))
        and ("toolCallId" not in leaf or isinstance(leaf["toolCallId"], str))
        and isinstance(leaf.get("actor"), dict)
        and all(is_count(count) for count in counts)
        and leaf["version"] >= 1
        and leaf["unitIndex"] < leaf["unitSize"]
    )


def read_entry(line):
    """(entry or None, finding code or None)"""
    try:
        value = parse(line)
    except NotCanonical:
        return None, "entry_malformed"
    if not isinstance(value, dict) or not is_count(value.get("position")) or not is_digest(value.get("leafHash")):
        return None, "entry_malformed"
    position, stated, names = value["position"], value["leafHash"], set(value)
    if names == {"leafHash", "position"}:
        return Entry(position, None, None, bytes.fromhex(stated[7:])), None
    leaf, payload = value.get("leaf"), value.get("payload")
    if not is_leaf(leaf):
        return None, "entry_malformed"
    if names == {"leaf", "leafHash", "position", "withheld"}:
        if value["withheld"] not in ("erased", "not_permitted", "redacted"):
            return None, "entry_malformed"
    elif names == {"leaf", "leafHash", "payload", "position", "salt"}:
        salt = value["salt"]
        if not isinstance(payload, dict) or not isinstance(salt, str) or not re.fullmatch("[0-9a-f]{32}", salt, re.ASCII):
            return None, "entry_malformed"
    else:
        return None, "entry_malformed"
    own = leaf_hash(canonical(leaf).encode())
    problem = None if "sha256:" + own.hex() == stated else "leaf_differs"
    if payload is not None and problem is None:
        committed = digest(bytes.fromhex(value["salt"]) + canonical(payload).encode())
        problem = None if committed == leaf["payloadCommitment"] else "payload_differs"
    return Entry(position, leaf, payload, own), problem


class Streams:
    def __init__(self, manifest, found):
        scope = manifest["scope"]
        self.begins_later = scope["kind"] == "range" and scope["from"] > 0
        self.tenant, self.versions, self.found = manifest["tenant"], {}, found

    def see(self, entry):
        if entry.is_hidden:
            return
        leaf = entry.leaf
        if self.tenant is not None and leaf["tenant"] not in (self.tenant, "*"):
            self.found("tenant_differs", entry)
        stream, version = (leaf["streamKind"], leaf["streamId"]), leaf["version"]
        last = self.versions.get(stream)
        if not ((self.begins_later or version == 1) if last is None else version == last + 1):
            self.found("stream_gap", entry)
        self.versions[stream] = version

    def end(self):
        pass


class Units:
    def __init__(self, found):
        self.found, self.seen, self.unit = found, set(), None
        self.run_start, self.last, self.last_visible = 0, -1, -1

    def see(self, entry):
        if entry.position != self.last + 1:
            self.end()
            self.run_start = entry.position
        if not entry.is_hidden:
            self.visible(entry)
            self.last_visible = entry.position
        self.last = entry.position

    def visible(self, entry):
        leaf = entry.leaf
        unit = (leaf["unitId"], leaf["unitSize"], entry.position - leaf["unitIndex"])
        if self.unit is not None and entry.position < self.unit[0][1] + self.unit[0][2]:
            if unit != self.unit[0]:
                self.found("unit_mixed", entry)
            return
        if unit[2] < self.run_start:
            self.found("unit_incomplete", entry)
        elif self.last_visible >= unit[2] or unit[0] in self.seen:
            self.found("unit_mixed", entry)
        self.seen.add(unit[0])
        self.unit = (unit, entry)

    def end(self):
        if self.unit is not None and self.unit[0][1] + self.unit[0][2] > self.last + 1:
            self.found("unit_incomplete", self.unit[1])
        self.unit = None


class Causes:
    def __init__(self, manifest, found):
        scope = manifest["scope"]
        self.found, self.seen, self.open = found, set(), []
        self.is_whole = scope["kind"] == "range" and scope["from"] == 0

    def see(self, entry):
        if entry.is_hidden:
            self.is_whole = False
            return
        event_id, cause = entry.leaf["eventId"], entry.leaf["causationId"]
        if cause is not None and cause not in self.seen:
            self.open.append(entry)
        if event_id in self.seen:
            self.found("event_repeated", entry)
        self.seen.add(event_id)

    def end(self):
        for entry in self.open:
            if entry.leaf["causationId"] in self.seen:
                self.found("cause_not_before", entry)
            elif self.is_whole:
                self.found("cause_unknown", entry)


class Objects:
    def __init__(self, parts, manifest, found, found_part):
        self.parts, self.manifest, self.found, self.found_part = parts, manifest, found, found_part
        self.referenced = {snapshot["digest"] for snapshot in manifest["snapshots"]}
        self.reported = set()

    def need(self, code, name, entry):
        self.referenced.add(name)
        if part_of(name) not in self.parts and (code, name) not in self.reported:
            self.reported.add((code, name))
            self.found(code, entry)

    def see(self, entry):
        if not entry.is_open:
            return
        payload, kind = entry.payload, entry.leaf["eventType"]
        self.referenced.update(value for value in payload.values() if is_digest(value))
        if kind == "approval.required":
            self.need("object_missing", text(payload.get("shownDigest")), entry)
        if kind == "policy.decided" and not (payload.get("policyRevision") == "none" and payload.get("outcome") == "deny"):
            self.need("policy_set_missing", text(payload.get("policyRevision")), entry)
            self.need("policy_schema_missing", text(payload.get("schemaDigest")), entry)

    def end(self):
        for snapshot in self.manifest["snapshots"]:
            if part_of(snapshot["digest"]) not in self.parts:
                self.found_part("object_missing", part_of(snapshot["digest"]))
        for part in self.parts:
            if not re.fullmatch(r"objects/[0-9a-f]{64}\.json", part, re.ASCII):
                continue
            name = "sha256:" + part[8:-5]
            if digest(self.parts[part]) != name:
                self.found_part("object_differs", part)
            else:
                try:
                    parse(self.parts[part])
                except NotCanonical:
                    self.found_part("part_malformed", part)
            if name not in self.referenced:
                self.found_part("object_unreferenced", part)


def part_of(name):
    return "objects/" + name[7:] + ".json"


class Call:
    def __init__(self, tenant):
        self.tenant, self.proposal, self.opaque = tenant, None, False
        self.authorized, self.dispatched = {}, set()


class Approval:
    def __init__(self, question):
        self.question, self.votes = question, {}
        self.broken_glass = self.was_granted = self.granted = self.consumed = False

    def has_quorum(self):
        rules, requesters = self.question.get("groups"), self.question.get("requesterSubjects")
        requesters = requesters if isinstance(requesters, list) else []
        return isinstance(rules, list) and bool(rules) and all(self.is_met(rule, requesters) for rule in rules)

    def is_met(self, rule, requesters):
        if not isinstance(rule, dict) or not isinstance(rule.get("group"), str) or number(rule.get("count")) < 1:
            return False
        excluded = requesters if rule.get("notRequester") is True else []
        people = [sub for sub, groups in self.votes.items() if rule["group"] in groups and sub not in excluded]
        return len(people) >= rule["count"]


class Approvals:
    def __init__(self, manifest, found):
        scope = manifest["scope"]
        self.begins_later = scope["kind"] == "range" and scope["from"] > 0
        self.found, self.calls, self.approvals, self.questions = found, {}, {}, {}

    def call(self, call_id, tenant):
        return self.calls.setdefault(call_id, Call(tenant))

    def see(self, entry):
        if entry.is_hidden:
            return
        leaf = entry.leaf
        if "toolCallId" in leaf:
            call = self.call(leaf["toolCallId"], leaf["tenant"])
            is_cut = self.begins_later and leaf["streamKind"] == "call" and leaf["version"] > 1 and call.proposal is None
            call.opaque = call.opaque or not entry.is_open or is_cut
        if not entry.is_open:
            return
        kind, payload = leaf["eventType"], entry.payload
        if leaf["eventType"] == "approval.required":
            self.ask(entry, leaf, payload)
        elif kind.startswith("approval.") and leaf["streamId"] in self.approvals:
            self.judge(kind, entry, payload, self.approvals[leaf["streamId"]])
        elif kind in ("tool.call.proposed", "capability.authorized", "capability.authorization_withdrawn", "tool.call.dispatching"):
            self.carry(kind, entry, payload, self.call(leaf["streamId"], leaf["tenant"]))

    def end(self):
        pass

    def ask(self, entry, leaf, payload):
        call_id = leaf.get("toolCallId", "")
        approval = self.approvals[leaf["streamId"]] = Approval(payload)
        self.questions.setdefault((call_id, number(payload.get("attempt"))), []).append(approval)
        proposal = self.calls[call_id].proposal if call_id in self.calls else None
        is_shown = "shown" in payload and json_digest(payload["shown"]) == payload.get("shownDigest")
        if not is_shown or (proposal is not None and not shows_arguments(payload, proposal)):
            self.found("shown_differs", entry)
        same = ("argsDigest", "manifestDigest", "capability", "capabilityVersion", "risk")
        if proposal is not None and any(not equal(payload.get(name), proposal.get(name)) for name in same):
            self.found("consent_differs", entry)

    def judge(self, kind, entry, payload, approval):
        by = payload.get("by")
        sub = text(by.get("sub")) if isinstance(by, dict) else ""
        has_consent = payload.get("consentDigest") == approval.question.get("consentDigest")
        if kind == "approval.vote_recorded":
            if sub in approval.votes:
                self.found("vote_repeated", entry)
            if approval.was_granted:
                self.found("vote_after_grant", entry)
            if not has_consent:
                self.found("vote_consent_differs", entry)
            groups = payload.get("groups") if payload.get("decision") == "allow" else []
            approval.votes[sub] = groups if isinstance(groups, list) else []
        elif kind == "approval.vote_withdrawn":
            approval.votes.pop(sub, None)
        elif kind == "approval.break_glass_used":
            approval.broken_glass = True
            if not has_consent:
                self.found("vote_consent_differs", entry)
        elif kind == "approval.granted":
            if approval.was_granted:
                self.found("grant_repeated", entry)
            if not approval.broken_glass and not approval.has_quorum():
                self.found("grant_without_quorum", entry)
            approval.was_granted = approval.granted = True
        elif kind in ("approval.denied", "approval.expired", "approval.invalidated", "approval.closed"):
            approval.granted = False
        elif kind == "approval.consumed":
            if approval.consumed:
                self.found("consumed_twice", entry)
            elif not approval.granted:
                self.found("consumed_without_grant", entry)
            approval.consumed = True

    def carry(self, kind, entry, payload, call):
        attempt = number(payload.get("attempt"))
        if kind == "tool.call.proposed":
            call.proposal = payload
            if "arguments" not in payload or json_digest(payload["arguments"]) != payload.get("argsDigest"):
                self.found("arguments_differ", entry)
        elif kind == "capability.authorized":
            call.authorized[attempt] = text(payload.get("basis"))
        elif kind == "capability.authorization_withdrawn":
            call.authorized.clear()
        else:
            self.dispatch(entry, payload, call, attempt)

    def dispatch(self, entry, payload, call, attempt):
        if attempt in call.dispatched:
            self.found("dispatched_twice", entry)
        call.dispatched.add(attempt)
        basis = call.authorized.get(attempt)
        if basis is None:
            if not call.opaque:
                self.found("dispatch_without_authorization", entry)
            return
        if basis != "approval":
            return
        call_id = entry.leaf["streamId"]
        used = [approval for approval in self.questions.get((call_id, attempt), []) if approval.consumed]
        if not used:
            if not call.opaque:
                self.found("dispatch_without_approval", entry)
            return
        consent = consent_of(call_id, call, used[0].question, payload.get("target"))
        if call.proposal is not None and consent != used[0].question.get("consentDigest"):
            self.found("consent_differs", entry)


def consent_of(call_id, call, question, target):
    principal = (call.proposal or {}).get("principal")
    if not isinstance(target, dict) or not isinstance(principal, dict) or not isinstance(principal.get("sub"), str):
        return None
    names = {"executeBy": "executeByLatest"}
    consent = {
        name: question[names.get(name, name)]
        for name in ("attempt", "manifestDigest", "argsDigest", "risk", "policyRevision", "decideBy", "executeBy")
        if names.get(name, name) in question
    }
    if len(consent) != 7:
        return None
    consent["principal"] = {name: principal[name] for name in ("sub", "act") if name in principal}
    consent["capability"] = text(question.get("capability")) + "@" + text(question.get("capabilityVersion"))
    return json_digest({**consent, "toolCallId": call_id, "tenant": call.tenant, "target": target})


def is_plain(value):
    if isinstance(value, str):
        return PLAIN.fullmatch(value) is not None
    if isinstance(value, list):
        return all(is_plain(item) for item in value)
    if isinstance(value, dict):
        return all(is_plain(key) and is_plain(item) for key, item in value.items())
    return True


def shows_arguments(question, proposal):
    shown, redacted = question.get("shown"), proposal.get("redacted")
    has_redacted = isinstance(redacted, list) and len(redacted) > 0
    if not isinstance(shown, dict) or "arguments" not in proposal or has_redacted or not is_plain(proposal["arguments"]):
        return True
    return equal(shown.get("arguments"), proposal["arguments"])
