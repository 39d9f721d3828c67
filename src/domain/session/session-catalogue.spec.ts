import { describe, expect, it } from '@jest/globals';
import { CATALOGUE } from '../events/catalogue.js';
import { isSessionEventType, SESSION_CATALOGUE, sessionPayloadProblem } from './session-catalogue.js';

/** type, who may say it, what it must name (r run, t turn, s step, c call, o reasoning, k skill), and fields of its payload. */
const TABLE: readonly [string, string, string, string][] = [
  [
    'session.created',
    'session-runtime',
    '',
    'formatVersion metadata parentRunId? parentSessionId? parentToolCallId? subagentId?',
  ],
  ['session.harness_detached', 'session-runtime', '', 'harnessInstanceId ownerEpoch reason'],
  ['user.message', 'harness', '', 'contents messageId'],
  ['assistant.delta', 'harness', 'rts', 'index messageId text'],
  ['assistant.message', 'harness', 'rts', 'contents incomplete? messageId toolCalls'],
  ['tool.message', 'capability-runtime recovery', 'rt', 'callId contents disposition messageId'],
  ['tool.reported', 'harness', 'rt', 'callId contents messageId'],
  ['notice.message', 'session-runtime', '', 'about messageId text'],
  ['system.reminder_set', 'harness', '', 'key value?'],
  ['system.prompt_changed', 'harness', '', 'promptDigest promptTemplateVersion'],
  ['tools.changed', 'harness', '', 'tools toolsDigest'],
  ['usage.recorded', 'harness', 'r', 'model tokens'],
  ['loop.advanced', 'harness', 'r', 'currentLoopCount totalLoopCount'],
  ['metadata.updated', 'harness', '', 'patch'],
  ['plan.updated', 'harness', 'r', 'plan planDigest'],
  ['skills.activated', 'harness', '', 'skills'],
  ['skill.selected', 'harness', 'rtok', 'skillVersion'],
  ['episodic.recorded', 'harness', '', 'episodeId messageIds'],
  ['error.recorded', 'harness recovery session-runtime', '', 'code layer message retryability'],
  ['turn.started', 'harness', 'rt', ''],
  ['turn.ended', 'harness recovery session-runtime', 'rt', 'outcome'],
  ['step.started', 'harness', 'rts', 'contextBuildId?'],
  ['step.ended', 'harness recovery session-runtime', 'rts', 'outcome'],
  [
    'context.projection_recorded',
    'harness',
    'rt',
    'compactionPolicyVersion contextBuildId includedObjectRefs omittedObjectRefs promptTemplateVersion sourceEventRange tokenBudget',
  ],
  ['tool.call.progressed', 'capability-runtime', 'rc', 'note? percent?'],
  ['subagent.progressed', 'harness', 'r', 'note subagentId'],
  ['versions.recorded', 'session-runtime', '', 'versionSetId versions'],
];

const LETTERS = { runId: 'r', turnId: 't', stepId: 's', toolCallId: 'c', reasoningObjectId: 'o', skillId: 'k' };

describe('the catalogue of buffered events', () => {
  it.each(TABLE)('says of %s who states it, what it names and what it holds', (type, producers, needs, fields) => {
    if (!isSessionEventType(type)) throw new Error(`${type} is not registered`);
    const { shape, ...definition } = SESSION_CATALOGUE[type];
    expect(definition.producers.toSorted().join(' ')).toBe(producers);
    expect(definition.needs.map((ref) => LETTERS[ref]).join('')).toBe(needs);
    const names = Object.entries(shape).map(([name, kind]) => (String(kind).endsWith('?') ? `${name}?` : name));
    expect(names.toSorted().join(' ')).toBe(fields);
  });

  it('holds these types and no other, each with a version', () => {
    expect(Object.keys(SESSION_CATALOGUE).toSorted()).toEqual(TABLE.map(([type]) => type).toSorted());
    for (const { schemaVersion } of Object.values(SESSION_CATALOGUE)) expect(schemaVersion).toBe(1);
  });

  it('lets a reader pass over progress and nothing else', () => {
    const ignorable = Object.entries(SESSION_CATALOGUE).filter(([, { ignorable }]) => ignorable === true);
    expect(ignorable.map(([type]) => type)).toEqual(['tool.call.progressed', 'subagent.progressed']);
  });

  it('holds nothing that is governed, so that no harness can state it', () => {
    expect(Object.keys(SESSION_CATALOGUE).filter((type) => Object.hasOwn(CATALOGUE, type))).toEqual([]);
  });

  it('knows no type by a name that every object has', () => {
    expect(['toString', '__proto__', 'constructor', ''].filter(isSessionEventType)).toEqual([]);
  });

  it('names the field that does not fit, and no value', () => {
    expect(sessionPayloadProblem('user.message', { messageId: 'm', contents: [] })).toBeNull();
    expect(sessionPayloadProblem('user.message', { messageId: 'm', contents: 'SECRET' })).toBe(
      'field contents is not list',
    );
    expect(sessionPayloadProblem('turn.ended', { outcome: 'SECRET' })).toBe('field outcome is not one of its words');
    expect(sessionPayloadProblem('turn.started', { more: 1 })).toBe('unknown field more');
  });
});
