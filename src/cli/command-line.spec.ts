import { describe, expect, it } from '@jest/globals';
import { CountersignError } from '../domain/errors/countersign-error.js';
import { runCommandLine } from './command-line.js';
import { EXIT, type Given, type Subcommand } from './command.js';
import { SUBCOMMANDS } from './subcommands.js';

function subcommand(run: (given: Given) => number, operand?: Subcommand['operand']): Subcommand {
  return {
    ...(operand === undefined ? {} : { operand }),
    summary: 'does a thing',
    details: 'And says so.',
    options: {
      file: { type: 'string', value: 'FILE', about: 'where' },
      loud: { type: 'boolean', about: 'whether' },
    },
    run: (given) => Promise.resolve(run(given)),
  };
}

async function outcome(
  args: readonly string[],
  run: (given: Given) => number = () => EXIT.done,
  operand?: Subcommand['operand'],
): Promise<{ code: number; out: string; err: string }> {
  const [out, err]: [string[], string[]] = [[], []];
  const terminal = {
    environment: {},
    out: (text: string) => void out.push(text),
    err: (text: string) => void err.push(text),
  };
  const code = await runCommandLine(args, { thing: () => Promise.resolve(subcommand(run, operand)) }, terminal);
  return { code, out: out.join(''), err: err.join('') };
}

describe('a command line', () => {
  it('gives a subcommand its options and passes on its exit code', async () => {
    const seen: unknown[] = [];
    const { code } = await outcome(['thing', '--file', 'a,b', '--loud'], (given) => {
      seen.push(given.text('file'), given.list('file'), given.flag('loud'), given.text('other'));
      return EXIT.migrationNeeded;
    });
    expect(code).toBe(3);
    expect(seen).toEqual(['a,b', ['a', 'b'], true, null]);
  });

  it.each([
    ['a command that does not exist', ['thin'], 'there is no command "thin"'],
    ['a name that every object has', ['constructor'], 'there is no command "constructor"'],
    ['an unknown option', ['thing', '--fil=x'], `Unknown option '--fil'`],
    ['an option without its value', ['thing', '--file'], `Option '--file <value>' argument missing`],
    ['a value for a flag', ['thing', '--loud=yes'], `Option '--loud' does not take an argument`],
    ['an argument without an option', ['thing', 'x'], `Unexpected argument 'x'`],
    ['an option that is given twice', ['thing', '--file', 'a', '--file', 'b'], '--file is given twice'],
    ['a second topic for help', ['help', 'thing', 'thing'], 'help takes the name of one command'],
  ])('is refused for %s, and nothing runs', async (_, args, problem) => {
    let runs = 0;
    const { code, out, err } = await outcome(args, () => (runs += 1));
    expect({ code, out, runs }).toEqual({ code: 2, out: '', runs: 0 });
    expect(err).toContain(`invalid_usage: ${problem}`);
  });

  it.each<[string, string[], number, string]>([
    ['with its word', ['thing', 'here', '--loud'], 0, ''],
    ['without its word', ['thing', '--loud'], 2, 'exactly one DIR is needed'],
    ['with an empty word', ['thing', ''], 2, 'exactly one DIR is needed'],
    ['with two words', ['thing', 'here', 'there'], 2, 'exactly one DIR is needed'],
  ])('of a subcommand that needs a word beside its options, %s', async (_, args, expected, problem) => {
    const seen: string[] = [];
    const { code, err } = await outcome(args, (given) => EXIT.done * seen.push(given.operand()), { value: 'DIR' });
    expect({ code, seen }).toEqual({ code: expected, seen: expected === 0 ? ['here'] : [] });
    expect(err).toContain(problem);
  });

  it('shows the word of a subcommand in its help', async () => {
    const { out } = await outcome(['help', 'thing'], undefined, { value: 'DIR' });
    expect(out).toContain('usage: countersign thing DIR [OPTIONS]');
  });

  it('that is empty shows the commands and counts as wrong', async () => {
    const { code, out, err } = await outcome([]);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain('thing     does a thing');
  });

  it.each([[['help']], [['--help']], [['-h']]])('%j lists the commands', async (args) => {
    const { code, out } = await outcome(args);
    expect(code).toBe(0);
    expect(out).toContain('thing     does a thing');
  });

  it.each([[['help', 'thing']], [['thing', '--help']], [['thing', '-h', '--loud']]])(
    '%j describes one command and does not run it',
    async (args) => {
      let runs = 0;
      const { code, out } = await outcome(args, () => (runs += 1));
      expect({ code, runs }).toEqual({ code: 0, runs: 0 });
      expect(out).toContain('--file FILE');
      expect(out).toContain('And says so.');
    },
  );

  it('that fails says the stable code of the failure', async () => {
    const { code, out, err } = await outcome(['thing'], () => {
      throw new CountersignError('address_in_use', 'cannot listen');
    });
    expect({ code, out, err }).toEqual({ code: 1, out: '', err: 'address_in_use: cannot listen\n' });
  });

  it('that breaks fails too', async () => {
    const { code, err } = await outcome(['thing'], () => {
      throw new TypeError('broken');
    });
    expect(code).toBe(1);
    expect(err).toContain('TypeError: broken');
  });
});

describe('every subcommand', () => {
  it.each(Object.keys(SUBCOMMANDS))('%s can say what it does', async (name) => {
    const out: string[] = [];
    const terminal = { environment: {}, out: (text: string) => void out.push(text), err: () => {} };
    expect(await runCommandLine([name, '--help'], SUBCOMMANDS, terminal)).toBe(0);
    expect(out.join('')).toContain(`usage: countersign ${name}`);
    for (const line of out.join('').split('\n')) expect(line.length).toBeLessThanOrEqual(124);
  });
});
