/**
 * Every error a user of Countersign can meet: the code is wire format, the status is its HTTP rendering, `mend` tells
 * a person what to do. No other file maps a code to a status. `docs/errors.md` is generated from this list.
 */
interface ErrorEntry {
  readonly status: number;
  readonly mend: string;
}

const entry = (status: number, mend: string): ErrorEntry => ({ status, mend });

export const ERRORS = {
  // The request itself
  invalid_json: entry(400, 'Send one JSON value in UTF-8 without duplicate keys, unsafe integers or lone surrogates.'),
  invalid_request: entry(400, 'Correct the field that the pointer names; unknown fields are refused.'),
  idempotency_key_required: entry(400, 'Send an Idempotency-Key header that names this intent.'),
  invalid_idempotency_key: entry(400, 'Use 1 to 255 visible ASCII characters as the key.'),
  invalid_run_label: entry(400, 'Use 1 to 128 visible ASCII characters as the Run-Id.'),
  invalid_timestamp: entry(400, 'Use an RFC 3339 time with an offset, for example 2031-01-01T00:00:00Z.'),
  not_found: entry(404, 'Check the path and the id; ids of other tenants and principals are not shown.'),
  method_not_allowed: entry(405, 'Use a method that the API document lists for this path.'),
  payload_too_large: entry(413, 'Send a smaller body; the limit is in the settings.'),
  unsupported_media_type: entry(415, 'Send application/json without a content encoding.'),

  // Who is calling
  unauthenticated: entry(401, 'Send a valid bearer token for this audience.'),
  identity_provider_unavailable: entry(
    503,
    'Try again; the keys of the token’s issuer could not be fetched, and nobody is believed without them.',
  ),
  not_authorized: entry(403, 'Use a token that has one of the roles this operation needs.'),
  callback_unauthenticated: entry(
    401,
    'Sign the callback as Standard Webhooks say, with the secret agreed for the capability.',
  ),
  approver_not_allowed: entry(403, 'Only a person in the approver group, other than the requester, may decide.'),
  delegate_not_allowed: entry(422, 'Lend your right to another person who is not the requester.'),
  standing_right_ended: entry(409, 'It was revoked or its time is over; make a new one if it is still wanted.'),
  review_not_owed: entry(409, 'Nothing is to be reviewed here, or somebody has reviewed it.'),
  too_many_open_approvals: entry(429, 'Wait until people have decided some of the questions of this agent.'),
  approval_subject_mismatch: entry(403, 'This approval is bound to another person.'),

  // Proposing
  capability_unknown: entry(422, 'Name a capability that GET /v1/capabilities lists.'),
  capability_version_unknown: entry(422, 'Leave the version out or name the version in force.'),
  invalid_arguments: entry(422, 'Correct the arguments to match the input schema of the capability.'),
  secret_in_payload: entry(422, 'Remove the credential from the arguments; the proxy adds credentials itself.'),
  idempotency_conflict: entry(422, 'Use a new key for other arguments; this key belongs to an earlier call.'),
  call_id_conflict: entry(409, 'Use a new callId; this one named other arguments in the same turn.'),
  outstanding_identical_intent: entry(409, 'Follow the call that the answer names, or set allowDuplicateIntent.'),
  run_not_found: entry(404, 'Name a run of this principal or leave runId out.'),
  run_already_ended: entry(409, 'Propose in a new run.'),
  run_stopping: entry(409, 'The run is stopping; propose in a new run.'),
  run_suspended: entry(409, 'Resume the run first.'),
  run_already_active: entry(409, 'Finish the active run of this session first.'),
  run_not_resumable: entry(409, 'Start a new run; this one cannot go on.'),
  run_has_open_work: entry(409, 'Wait until every call of the run has ended.'),
  not_at_safe_point: entry(409, 'Try again at the next safe point.'),
  duplicate_id: entry(409, 'Use a new id.'),
  paused: entry(503, 'Wait until an operator lifts the pause.'),
  store_held: entry(503, 'The store is a restored or older one; an operator must look at it and accept it.'),
  capability_paused: entry(503, 'Wait until an operator lifts the pause of this capability.'),
  capability_held: entry(503, 'Wait until an operator or a successful probe releases the capability.'),
  overloaded: entry(503, 'Try again after the Retry-After seconds; nothing was recorded.'),
  rate_limited: entry(429, 'Try again after the Retry-After seconds; nothing was recorded.'),
  contended: entry(503, 'Try again; other writers changed the same records three times in a row.'),
  shutting_down: entry(503, 'Try again against a running instance; nothing was recorded.'),
  secret_not_found: entry(404, 'Check name and version; GET /v1/secrets lists them.'),
  secret_in_use: entry(409, 'Store a newer version, or take the reference out of the settings, then retire this one.'),
  secret_connection_refused: entry(403, 'Send secrets from the machine itself (loopback), or over TLS.'),
  backup_running: entry(409, 'Wait until the backup that is being made has ended.'),
  backup_failed: entry(503, 'Correct what the message names, space first of all; nothing was left behind.'),
  store_not_held: entry(409, 'The store is not held: there is nothing to accept.'),
  store_unavailable: entry(503, 'The store cannot write; an operator must look at the disk and the log.'),
  instance_taken_over: entry(503, 'Try again; another process has taken over, and this one records nothing any more.'),
  durability_failed: entry(503, 'The store could not make the record durable; nothing was sent.'),
  engine_error: entry(503, 'The policy engine failed and everything is denied; an operator must look at it.'),

  // Leases
  lease_not_found: entry(404, 'Check the lease id; leases of other tenants are not shown.'),
  lease_refused: entry(409, 'The lease was never issued; read it to see why.'),
  lease_released: entry(409, 'The call of the lease has ended, or a newer lease has taken its place.'),
  lease_expired: entry(409, 'The time of the lease is over.'),
  lease_revoked: entry(409, 'The lease has been revoked; read it to see why.'),
  lease_exhausted: entry(409, 'The lease has been used as often as it may be.'),
  lease_not_ended: entry(409, 'The lease is live; end it first.'),
  lease_call_mismatch: entry(409, 'Use the lease for the call and the attempt that it names.'),
  lease_environment_mismatch: entry(409, 'Use the lease in the execution environment that it names.'),
  lease_scope_exceeded: entry(409, 'Ask for no more than the capability, the policy and the lease before allow.'),
  lease_renewal_refused: entry(
    409,
    'Only a lease of an accepted call of an open run is renewed, up to its longest time.',
  ),
  lease_signature_invalid: entry(401, 'Send a lease token that this installation signed, as it was given.'),
  lease_key_too_young: entry(409, 'Wait until the next key has been published as long as caches keep the key set.'),

  // Approvals
  approval_not_found: entry(404, 'Check the approval id.'),
  plan_review_not_found: entry(404, 'Check the id of the plan review.'),
  approval_not_pending: entry(409, 'The approval is closed; read it to see why.'),
  approval_already_decided: entry(409, 'The first decision stands; read the approval to see it.'),
  approval_already_consumed: entry(409, 'The approval has been used; a new attempt needs a new approval.'),
  approval_expired: entry(409, 'The deadline has passed; the agent must propose again.'),
  approval_missing: entry(409, 'The call needs an approval before it can run.'),
  action_digest_mismatch: entry(409, 'Read the approval again and send back the digest it shows.'),
  version_stale: entry(412, 'Read the resource again and send its current ETag in If-Match.'),
  precondition_failed: entry(409, 'Something that the call rests on is not so; try again when it is.'),
  precondition_unavailable: entry(
    503,
    'What the call rests on cannot be read now; try again after the Retry-After seconds.',
  ),
  precondition_changed: entry(409, 'What the approval rested on has changed; propose again.'),
  policy_version_changed: entry(409, 'The policy has changed since the question was asked; propose again.'),
  capability_version_changed: entry(409, 'A newer version of the capability is in force; propose again.'),
  capability_definition_changed: entry(
    409,
    'The definition of the capability has drifted; an operator must import it again.',
  ),
  capability_drift: entry(409, 'The definition of the capability has drifted; an operator must import it again.'),

  // Control and execution
  tool_call_not_found: entry(404, 'Check the tool call id.'),
  command_not_found: entry(404, 'Check the command id.'),
  command_id_conflict: entry(409, 'Use a new commandId; this one belongs to another command.'),
  command_not_supported: entry(422, 'Use one of the command types that the API document lists.'),
  tool_call_already_ended: entry(409, 'The call has ended; read it to see how.'),
  tool_call_not_ready: entry(409, 'The call is not in a state that allows this.'),
  cancel_not_supported: entry(409, 'The request may be on the wire and the tool has no cancel; wait for the result.'),
  retry_forbidden_result_unknown: entry(409, 'It is not known whether the effect happened; reconcile first.'),
  retry_not_allowed: entry(409, 'Only a call that is proven to have had no effect can be retried.'),
  compensation_not_possible: entry(409, 'Only an effect on record can be undone; settle or look up the call first.'),
  compensation_not_declared: entry(409, 'The manifest names no compensation; propose the counter-action yourself.'),
  handoff_not_open: entry(409, 'Only a call in manual_handoff without a finding can be resolved.'),
  statement_not_supported: entry(409, 'Declare `statement` in the manifest of the capability first.'),
  second_person_required: entry(
    409,
    'Ask another operator to look: the finding counts when two people found the same.',
  ),
  evidence_required: entry(422, 'Name at least one evidence reference for the finding.'),
  outcome_not_open: entry(409, 'Only a call whose verification was opened takes feedback; read its outcome.'),
  feedback_source_missing: entry(
    403,
    'Use a source that the capability lists, with the kinds of evidence it may give.',
  ),
  feedback_evidence_missing: entry(422, 'Name evidence with its kind, where it is kept and its digest.'),
  feedback_criteria_unknown: entry(422, 'Name the success criteria and the version that the call is verified by.'),
  feedback_id_conflict: entry(409, 'Use a new feedbackId; this one named another feedback of this source.'),
  turn_not_found: entry(404, 'Name a turn of a run of this principal.'),
  dangling_reference: entry(422, 'Refer only to what was recorded in the same run before.'),
  already_paused: entry(409, 'The target is paused already.'),
  not_paused: entry(409, 'The target is not paused.'),
  sink_not_found: entry(404, 'Name a sink of the settings (outbox.sinks).'),
  dead_letter_not_found: entry(404, 'List the dead letters of the sink and name one of them.'),
  replay_under_way: entry(409, 'Wait until the replay of this sink has ended; GET /v1/outbox/sinks shows it.'),
  policy_set_refused: entry(422, 'Correct the problems listed; the active policy set stays in force.'),
  policy_set_unknown: entry(
    404,
    'Name the revision of a set that was proposed or in force; GET /v1/policies shows them.',
  ),
  policy_decision_not_found: entry(404, 'Check the id of the policy decision or of the tool call.'),
  policy_activation_not_found: entry(404, 'Check the id; GET /v1/policies lists the open proposals.'),
  policy_activation_closed: entry(409, 'The proposal has been decided or has expired; propose the set again.'),
  policy_activation_stale: entry(409, 'The set in force or a manifest has changed since; propose the set again.'),
  policy_activation_needs_approval: entry(
    409,
    'Propose the set with POST /v1/policies/activate; another operator allows it.',
  ),
  policy_activation_by_folder: entry(409, 'Change the policy folder and reload, or set policy.activation to approved.'),
  policy_shadow_not_set: entry(409, 'No set shadows the one in force.'),
  budget_exceeded: entry(429, 'Wait for the next window or ask for a larger budget.'),
  internal: entry(500, 'Report the error with the time and the request id; nothing is claimed about the effect.'),

  // Durable sessions
  invalid_session_id: entry(
    400,
    'Use 1 to 200 characters without separators, control characters or two dots in a row.',
  ),
  session_not_found: entry(404, 'Name a session of this principal, or make one with POST /v1/sessions.'),
  session_id_collision: entry(409, 'Choose another session id: this one would share its files with another session.'),
  session_exists: entry(409, 'Attach to the session, or choose another id.'),
  session_identity_mismatch: entry(
    409,
    'What is stored under this id is another session; an operator must look at it.',
  ),
  session_live_open_turn: entry(409, 'The session is live and in the middle of a turn; use it, or end the turn first.'),
  session_log_corrupt: entry(409, 'The log is damaged where it was promised to be whole; an operator must restore it.'),
  session_format_unsupported: entry(409, 'A newer version wrote this log; use that version. Nothing was changed.'),
  session_deleted: entry(410, 'The session was deleted; its tombstone remains.'),
  state_corrupt: entry(409, 'No snapshot of the session can be read; an operator must look at it.'),
  state_save_failed: entry(503, 'The snapshot could not be saved; what was there before is untouched.'),
  schema_version_unsupported: entry(409, 'Run the version that wrote this, or migrate it. Nothing was changed.'),
  message_empty_contents: entry(422, 'Give the message contents, or tool calls if it is an assistant message.'),
  state_not_serializable: entry(422, 'Send plain data only; the message names the place.'),
  history_unpaired: entry(409, 'Every tool call of the history needs its one answer first.'),
  snapshot_ahead_of_log: entry(
    409,
    'The log is shorter than its snapshot: promised data is gone; an operator must look.',
  ),
  log_missing_for_snapshot: entry(409, 'The log of this session is gone, its snapshot is not; an operator must look.'),
  seq_conflict: entry(409, 'Read the session and append after its headSeq; somebody else has appended.'),
  revision_stale: entry(503, 'Try again: the log was changed while it was being read.'),
  owner_epoch_stale: entry(409, 'Another harness has attached since; attach again if this one is to go on.'),
  session_owned_elsewhere: entry(503, 'Another process has this session; ask there, or try again later.'),
  write_behind_saturated: entry(503, 'Flush, or wait until the disk has caught up; nothing of this append was taken.'),
  persistence_closed: entry(503, 'Try again against a running instance; nothing of this append was taken.'),
  event_type_unknown: entry(422, 'Use an event type that docs/sessions.md lists.'),
  event_schema_invalid: entry(422, 'Correct the field of the event that the message names.'),
  producer_not_allowed: entry(403, 'Only the runtime may state this; a harness appends what a harness may say.'),
  turn_already_open: entry(409, 'End the open turn first.'),
  step_already_open: entry(409, 'End the open step first.'),
  turn_not_open: entry(409, 'Begin a turn first.'),
  step_not_open: entry(409, 'Begin a step first.'),
  raw_artifact_unsupported: entry(409, 'This backend keeps no text; read the events instead.'),
  checkpoint_incompatible: entry(409, 'The run was left by another version; an operator must decide how it goes on.'),

  // The command line and the start of the process (printed, never answered over HTTP)
  invalid_usage: entry(500, 'Correct the command line; `countersign COMMAND --help` lists the options.'),
  signing_key_unusable: entry(500, 'Name a file with one private JWK that other users of the machine cannot read.'),
  signing_key_exists: entry(500, 'Name a directory without keys; a key is never replaced.'),
  token_refused: entry(500, 'Correct what the message names; the installation would not accept such a token.'),
  not_loopback: entry(500, 'Set http.host to a loopback address, or use `countersign start`.'),
  invalid_settings: entry(500, 'Correct every setting that the message lists.'),
  invalid_manifest: entry(500, 'Correct every problem of the manifest that the message lists.'),
  address_in_use: entry(500, 'Choose another http.port, or stop the program that uses this one.'),
  instance_already_running: entry(500, 'Stop the other process on this data directory first.'),
  sqlite_version_refused: entry(500, 'Use SQLite 3.51.3 or newer, but not 3.52.0.'),
  sqlite_pragma_refused: entry(500, 'The pragma named is not in force on this file system; use a local disk.'),
  sqlite_application_id_mismatch: entry(500, 'The file is not a Countersign database; choose another data directory.'),
  schema_migration_needed: entry(500, 'Copy the data directory, then run `countersign migrate`.'),
  backup_damaged: entry(500, 'Use another backup: this one is not whole, or is not what its manifest says.'),
  restore_refused: entry(500, 'Nothing was changed; the message names what is in the way.'),
  server_unreachable: entry(
    500,
    'Name the address of the running server with --url; the message says why it did not answer.',
  ),
  key_ring_unusable: entry(500, 'Restore the key file that this database was written with.'),
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof ERRORS;

/** Refusal of a pure rule: `message` is for people and never holds arguments, secrets or full session ids. */
export interface Refusal {
  readonly ok: false;
  readonly code: ErrorCode;
  readonly message: string;
}

export const refuse = (code: ErrorCode, message: string): Refusal => ({ ok: false, code, message });
