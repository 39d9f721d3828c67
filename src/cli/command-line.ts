import { parseArgs } from 'node:util';
import { CountersignError } from '../domain/errors/countersign-error.js';
import { EXIT, Given, usage, type Option, type Subcommand, type Terminal } from './command.js';

/** Subcommands by name; each is loaded when it is asked for, so that offline ones stay quick and open nothing. */
export type Subcommands = Readonly<Record<string, () => Promise<Subcommand>>>;

const FOOTER = `
Exit codes: 0 done, 1 refused or failed (stderr says "code: why"), 2 wrong usage, 3 migration needed (migrate --check),
4 another process has taken over, 70 ended by an error inside. docs/operations.md has more.
`;

/** Carries out one command line, without the program's name. Answers the exit code; never throws. */
export async function runCommandLine(
  args: readonly string[],
  subcommands: Subcommands,
  terminal: Terminal,
): Promise<number> {
  try {
    return await dispatch(args, subcommands, terminal);
  } catch (error) {
    if (!(error instanceof CountersignError)) {
      terminal.err(`${String((error as Error | null)?.stack ?? error)}\n`);
      return EXIT.failed;
    }
    terminal.err(`${error.code}: ${error.message}\n`);
    if (error.code !== 'invalid_usage') return EXIT.failed;
    terminal.err('`countersign help` lists the commands, `countersign COMMAND --help` the options of one.\n');
    return EXIT.usage;
  }
}

async function dispatch(args: readonly string[], subcommands: Subcommands, terminal: Terminal): Promise<number> {
  const [word, ...rest] = args;
  if (word === undefined) {
    terminal.err(await overview(subcommands));
    return EXIT.usage;
  }
  const name = ALIASES.get(word) ?? word;
  if (name === 'help') {
    if (rest.length > 1) throw usage('help takes the name of one command');
    const [topic] = rest;
    terminal.out(topic === undefined ? await overview(subcommands) : await helpFor(topic, subcommands));
    return EXIT.done;
  }
  const subcommand = await load(name, subcommands);
  const given = parsed(rest, subcommand);
  if (given === 'help') {
    terminal.out(await helpFor(name, subcommands));
    return EXIT.done;
  }
  return subcommand.run(given, terminal);
}

const ALIASES: ReadonlyMap<string, string> = new Map([
  ['--help', 'help'],
  ['-h', 'help'],
  ['--version', 'version'],
]);

async function load(name: string, subcommands: Subcommands): Promise<Subcommand> {
  const loader = Object.hasOwn(subcommands, name) ? subcommands[name] : undefined;
  if (loader === undefined) throw usage(`there is no command "${name}"`);
  return loader();
}

function parsed(args: readonly string[], { options, operand }: Subcommand): Given | 'help' {
  const declared = Object.entries(options).map(([name, { type }]) => [name, { type }] as const);
  try {
    const { values, positionals, tokens } = parseArgs({
      args: [...args],
      options: { ...Object.fromEntries(declared), help: { type: 'boolean', short: 'h' } },
      strict: true,
      allowPositionals: operand !== undefined,
      tokens: true,
    });
    const names = tokens.flatMap((token) => (token.kind === 'option' ? [token.name] : []));
    const twice = names.find((name, index) => names.indexOf(name) < index);
    if (twice !== undefined) throw usage(`--${twice} is given twice`);
    if (values['help'] === true) return 'help';
    const { value, least = 1, most = 1 } = operand ?? { value: '', least: 0 };
    const words: readonly string[] = positionals;
    if (words.length < least || words.length > most || words.includes('')) {
      throw usage(least === 1 && most === 1 ? `exactly one ${value} is needed` : `what is needed is ${value}`);
    }
    return new Given(values as Record<string, string | boolean | undefined>, words);
  } catch (error) {
    if (error instanceof CountersignError) throw error;
    throw usage((error as Error).message.split('. ')[0] as string);
  }
}

async function overview(subcommands: Subcommands): Promise<string> {
  const lines = await Promise.all(
    Object.entries(subcommands).map(async ([name, loader]) => `  ${name.padEnd(10)}${(await loader()).summary}`),
  );
  const help = `  ${'help'.padEnd(10)}this text, or that of one command`;
  return `usage: countersign COMMAND [OPTIONS]\n\n${[...lines, help].join('\n')}\n${FOOTER}`;
}

async function helpFor(name: string, subcommands: Subcommands): Promise<string> {
  const { summary, details, options, operand } = await load(name, subcommands);
  const word = operand === undefined ? '' : ` ${operand.value}`;
  const lines = Object.entries(options).map(([option, spec]) => `  ${written(option, spec).padEnd(24)}${spec.about}`);
  const list = lines.length === 0 ? '' : `\n${lines.join('\n')}\n`;
  return `usage: countersign ${name}${word}${lines.length === 0 ? '' : ' [OPTIONS]'}\n\n${summary}\n${details === '' ? '' : `\n${details}\n`}${list}`;
}

const written = (name: string, option: Option): string =>
  option.type === 'string' ? `--${name} ${option.value}` : `--${name}`;
