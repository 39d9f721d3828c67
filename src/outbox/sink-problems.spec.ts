import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { fileSettings, secretFile, webhookSettings } from '../../test/builders/outbox-bench.js';
import type { SinkSettings } from '../config/settings.js';
import { sinkSchema } from '../config/sink.schema.js';
import type { CountersignError } from '../domain/errors/countersign-error.js';
import { checkSinks } from './sink-problems.js';

function problemsOf(sinks: Readonly<Record<string, SinkSettings>>): readonly string[] {
  try {
    checkSinks({ outbox: { lagMsMax: 1000, sinks } });
    return [];
  } catch (error) {
    return (error as CountersignError).details['problems'] as string[];
  }
}

const problemOf = (sink: SinkSettings): readonly string[] => problemsOf({ ops: sink });

describe('the sinks of the settings', () => {
  it('are good as the documentation shows them', () => {
    expect(problemOf(webhookSettings())).toEqual([]);
    expect(problemOf(webhookSettings({ url: 'http://127.0.0.1:9/', allowAddresses: ['loopback'] }))).toEqual([]);
    expect(problemOf(fileSettings(join(mkdtempSync(join(tmpdir(), 'countersign-')), 'new.ndjson')))).toEqual([]);
  });

  it.each([
    ['an address that is not public', { url: 'https://127.0.0.1/hook' }, 'its address is not public'],
    ['an address for metadata', { url: 'https://169.254.169.254/x', allowAddresses: ['loopback'] }, 'is not public'],
    ['plain http to anybody', { url: 'http://ops.example/hook' }, 'need https'],
    ['a password in the URL', { url: 'https://user:pw@ops.example/' }, 'without user'],
    ['another scheme', { url: 'file:///etc/passwd' }, 'absolute http or https'],
    ['an address class that is none', { allowAddresses: ['everything'] }, 'neither a class nor a range'],
    ['a secret that is not there', { secrets: ['env:COUNTERSIGN_NO_SUCH_SECRET'] }, 'has no value'],
    ['a secret that is none', { secrets: [`file:${secretFile('hunter2')}`] }, 'must hold whsec_'],
    ['a secret that is short', { secrets: [`file:${secretFile('whsec_c2hvcnQ=')}`] }, '24 to 64 bytes'],
    ['a longest wait shorter than the first', { backoffMs: 500, backoffMsMax: 100 }, 'must not be shorter'],
  ])('are refused with %s, and no value is repeated', (_, changes, words) => {
    const problems = problemOf(webhookSettings(changes));
    expect(problems.join()).toContain(words);
    expect(problems.join()).toContain('outbox.sinks.ops.');
    expect(problems.join()).not.toMatch(/hunter2|c2hvcnQ|user:pw/);
  });

  it('are refused with a file whose folder is missing, that is a folder, or that two share', () => {
    expect(problemOf(fileSettings('/nowhere/at/all.ndjson'))).toEqual([expect.stringContaining('does not exist')]);
    expect(problemOf(fileSettings(tmpdir()))).toEqual([expect.stringContaining('no regular file')]);
    const file = fileSettings(join(tmpdir(), 'shared.ndjson'));
    expect(problemsOf({ a: file, b: file })).toEqual([expect.stringContaining('same file')]);
  });

  it('are refused with every problem at once', () => {
    const problems = problemsOf({
      a: webhookSettings({ url: 'http://ops.example/', secrets: ['env:NO_SUCH'] }),
      b: fileSettings('/nowhere/x'),
    });
    expect(problems).toHaveLength(3);
  });

  it('take the address of a chat from a reference, and never repeat it', () => {
    const chat = (address: string, changes = {}): readonly string[] =>
      problemOf(sinkSchema.parse({ kind: 'chat', url: `file:${secretFile(address)}`, ...changes }));
    expect(chat('https://chat.example/services/s3cr3t')).toEqual([]);
    expect(chat('http://127.0.0.1:9/s3cr3t', { allowAddresses: ['loopback'] })).toEqual([]);
    expect(chat('http://chat.example/s3cr3t')).toEqual([expect.stringContaining('need https')]);
    expect(chat('s3cr3t')).toEqual([expect.stringContaining('absolute http or https')]);
    expect(JSON.stringify([chat('http://chat.example/s3cr3t'), chat('s3cr3t')])).not.toContain('s3cr3t');
    expect(problemOf(sinkSchema.parse({ kind: 'chat', url: 'env:COUNTERSIGN_NO_SUCH_CHAT' }))).toEqual([
      expect.stringContaining('has no value'),
    ]);
    expect(sinkSchema.safeParse({ kind: 'chat', url: 'https://chat.example/s3cr3t' }).success).toBe(false);
  });
});
