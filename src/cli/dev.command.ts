import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ipaddr from 'ipaddr.js';
import { settingsFile, type Environment } from '../config/environment.js';
import { loadSettings } from '../config/load-settings.js';
import type { Settings } from '../config/settings.js';
import { CountersignError } from '../domain/errors/countersign-error.js';
import { TokenSigner, keyPairFiles, newKeyPair, type KeyPairFiles } from '../identity/signing-key.js';
import { PinoLogger } from '../system/logger.js';
import { CONFIG_OPTION, type Subcommand, type Terminal } from './command.js';
import { serve } from './serve.js';

const EXAMPLE = fileURLToPath(new URL('../../examples/refunds/countersign.yaml', import.meta.url));

/** Never those of a real installation: its tokens mean nothing here, and these mean nothing there. */
const ISSUER = 'https://dev.countersign.invalid';
const AUDIENCE = 'countersign-dev';

const TOKEN_SECONDS = 8 * 3600;

export const DEV: Subcommand = {
  summary: 'run a server on loopback with a key set of its own, and print tokens to try it with',
  details: `Makes a key pair below the data directory and prints tokens as export lines: a harness, two approvers of every
group, an operator, an auditor. Takes no other tokens. Without settings it runs the example, whose payment provider
\`npm run dev\` starts as well.`,
  options: { config: CONFIG_OPTION },
  run: async (given, terminal) => {
    const file = given.text('config') ?? settingsFile(terminal.environment);
    const { settings, keys } = await devSettings(file, terminal.environment);
    assertLoopback(settings.http.host);
    const tokens = await devTokens(settings, keys);
    return serve(settings, new PinoLogger(settings.log.level), {
      announce: (url) => announce(terminal, url, tokens),
    });
  },
};

async function devSettings(
  file: string | null,
  environment: Environment,
): Promise<{ settings: Settings; keys: KeyPairFiles }> {
  const source = file ?? EXAMPLE;
  const identity = {
    ...environment,
    COUNTERSIGN_IDENTITY__ISSUER: ISSUER,
    COUNTERSIGN_IDENTITY__AUDIENCE: AUDIENCE,
    COUNTERSIGN_IDENTITY__ALGORITHMS: '["Ed25519"]',
    COUNTERSIGN_IDENTITY__JWKS_FILE: 'public-keys.json',
  };
  const { dataDir } = loadSettings({ file: source, environment: identity });
  const dir = join(dataDir, 'dev-keys');
  const files = keyPairFiles(dir);
  const keys = existsSync(files.privateFile) && existsSync(files.jwksFile) ? files : await newKeyPair(dir);
  const here = {
    ...identity,
    COUNTERSIGN_IDENTITY__JWKS_FILE: keys.jwksFile,
    ...(file === null ? exampleCredentials(dir, environment) : {}),
  };
  return { settings: loadSettings({ file: source, environment: here }), keys };
}

/** The example's provider is reached with a key from the environment; without one the server would not start. */
function exampleCredentials(dir: string, environment: Environment): Environment {
  if ((environment['PAYMENTS_KEY'] ?? '') !== '') return {};
  const secretFile = join(dir, 'example-provider-key');
  if (!existsSync(secretFile)) writeFileSync(secretFile, 'example-provider-key', { mode: 0o600 });
  return {
    COUNTERSIGN_CREDENTIALS: JSON.stringify({
      payments: { secret: `file:${secretFile}`, header: 'authorization', scheme: 'Bearer' },
    }),
  };
}

/** Whoever can reach a server with printed tokens can use it. */
function assertLoopback(host: string): void {
  const isLoopback = host === 'localhost' || (ipaddr.isValid(host) && ipaddr.process(host).range() === 'loopback');
  if (!isLoopback) throw new CountersignError('not_loopback', `dev listens on loopback addresses only, not on ${host}`);
}

/** A token per part to play, by the name of the variable it is printed under. */
async function devTokens(settings: Settings, keys: KeyPairFiles): Promise<Readonly<Record<string, string>>> {
  const { operatorTenant } = settings.installation;
  const tenant = operatorTenant ?? 'dev';
  const groups = settings.policy.approverGroups;
  const cast = {
    HARNESS: { sub: 'sam', act: { sub: 'support-agent' }, roles: ['harness'] },
    LENA: { sub: 'lena', roles: ['approver'], groups },
    OMAR: { sub: 'omar', roles: ['approver'], groups },
    OPERATOR: { sub: 'otto', roles: ['operator'] },
    AUDITOR: { sub: 'ada', roles: ['auditor'] },
  };
  const signer = await TokenSigner.read(keys.privateFile);
  const terms = {
    issuer: ISSUER,
    audience: AUDIENCE,
    issuedAtSeconds: Math.floor(Date.now() / 1000),
    lifetimeSeconds: Math.min(TOKEN_SECONDS, Math.floor(settings.identity.tokenLifetimeMsMax / 1000)),
  };
  const signed = Object.entries(cast).map(
    async ([name, claims]) => [name, await signer.sign({ ...claims, tenant }, terms)] as const,
  );
  return Object.fromEntries(await Promise.all(signed));
}

function announce(terminal: Terminal, url: string, tokens: Readonly<Record<string, string>>): void {
  const lines = Object.entries({ CS: url, ...tokens }).map(([name, value]) => `export ${name}=${value}`);
  terminal.out(`${lines.join('\n')}\n`);
}
