import { describe, expect, it } from '@jest/globals';
import { deliveredContract } from '../../../test/builders/resume-examples.js';
import { TOOL_CALL_STATUSES } from '../../domain/tool-call/tool-call.state.js';
import {
  contractProblems,
  INTERRUPTION_POINTS,
  recoveryClassOf,
  versionsAgree,
  type ContractRow,
  type InterruptionPoint,
  type ResumeContractDocument,
} from './resume-contract.js';

const { document } = deliveredContract();
const changed = (point: InterruptionPoint, change: Partial<ContractRow>): ResumeContractDocument => ({
  ...document,
  points: { ...document.points, [point]: { ...document.points[point], ...change } },
});

describe('the resume contract', () => {
  it('as delivered is what the program carries out, with a row for every point', () => {
    expect(contractProblems(document)).toEqual([]);
    expect(Object.keys(document.points).toSorted()).toEqual([...INTERRUPTION_POINTS].toSorted());
  });

  it('puts every status of a call into one class, and only what was never sent is decided anew', () => {
    const replayed = TOOL_CALL_STATUSES.filter((status) => recoveryClassOf(status) === 'replay');
    expect(replayed).toEqual(['proposed', 'authorized']);
  });

  it.each<[InterruptionPoint, Partial<ContractRow>, string]>([
    ['dispatching', { automatic: 'rejudge_and_send' }, 'points.dispatching.automatic: must be record_unknown'],
    ['result_unknown', { recovery: 'replay' }, 'points.result_unknown.recovery: must be ask'],
    ['result_unknown', { byCommand: ['retry'] }, 'points.result_unknown.byCommand: must be []'],
    ['completed', { automatic: 'look_up' }, 'points.completed.automatic: must be wait'],
    ['accepted', { olderVersion: 'close' }, 'points.accepted.olderVersion: must be continue'],
    ['denied', { undo: 'by_command' }, 'points.denied.undo: must be none'],
    ['run_stopping', { automatic: 'wait' }, 'points.run_stopping.automatic: must be finish_stop'],
  ])('is refused when it promises of %s what would not happen (%j)', (point, change, problem) => {
    expect(contractProblems(changed(point, change))).toEqual([problem]);
  });

  it.each<[InterruptionPoint, Partial<ContractRow>]>([
    ['authorized', { automatic: 'wait' }],
    ['authorized', { olderVersion: 'close' }],
    ['authorized', { olderVersion: 'wait' }],
    ['accepted', { automatic: 'record_unknown' }],
  ])('may choose otherwise where the promises leave a choice (%s %j)', (point, change) => {
    expect(contractProblems(changed(point, change))).toEqual([]);
  });
});

describe('two version sets', () => {
  const NOW = 'countersign/0.2.0 events/2 schema/5';
  it('agree when the parts that must are equal, whatever the rest', () => {
    expect(versionsAgree('countersign/0.1.0 events/2 schema/4', NOW, ['events'])).toBe(true);
    expect(versionsAgree('countersign/0.2.0 events/1 schema/5', NOW, ['events'])).toBe(false);
    expect(versionsAgree('countersign/0.1.0 events/2 schema/5', NOW, ['program', 'events'])).toBe(false);
    expect(versionsAgree(NOW, NOW, ['program', 'events', 'schema'])).toBe(true);
  });

  it('do not agree in a part that a record does not name', () => {
    expect(versionsAgree('countersign/0.2.0', NOW, ['events'])).toBe(false);
    expect(versionsAgree('', '', ['events'])).toBe(false);
    expect(versionsAgree('', NOW, [])).toBe(true);
  });
});
