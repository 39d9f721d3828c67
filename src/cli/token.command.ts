import { randomUUID } from 'node:crypto';
import { parseDuration } from '../capabilities/duration.js';
import type {
  RevocationListRepresentation,
  RevocationRepresentation,
  RevokeTokenBody,
} from '../client/contract/tokens.js';
import { settingsFile } from '../config/environment.js';
import { loadSettings } from '../config/load-settings.js';
import type { Settings } from '../config/settings.js';
import { CountersignError } from '../domain/errors/countersign-error.js';
import { TokenSigner, newKeyPair } from '../identity/signing-key.js';
import { TokenVerifier } from '../identity/token-verifier.js';
import { SystemClock } from '../system/clock.js';
import { CONFIG_OPTION, EXIT, usage, type Given, type Subcommand, type Terminal } from './command.js';
import { SERVER_OPTIONS, operatorCall } from './operator-call.js';

const DEFAULT_TTL = '1h';

export const TOKEN: Subcommand = {
  summary: 'issue a token with a private key file, make a key pair, revoke tokens',
  details: `For installations whose identity.jwksFile holds the public half of a key of yours. The token alone goes to stdout.
Issuer, audience and keys come from the settings; what the installation would refuse is not handed out.
issue   the same as without a word
revoke  end tokens before their time, on the running server: --jti ID, or --sub NAME (and --tenant) for all issued until now
list    what is revoked and would not have expired by itself`,
  operand: { value: '[issue|revoke|list]', least: 0, most: 1 },
  options: {
    'new-key': { type: 'string', value: 'DIR', about: 'make private-key.json (mode 0400) and public-keys.json there' },
    config: CONFIG_OPTION,
    key: { type: 'string', value: 'FILE', about: 'private JWK to sign with; others must not be able to read the file' },
    sub: { type: 'string', value: 'NAME', about: 'on whose behalf the bearer acts' },
    act: { type: 'string', value: 'A,B', about: 'the agent that acts; then for whom it acts, and so on' },
    roles: { type: 'string', value: 'A,B', about: 'harness, approver, operator, auditor, connector, feedback' },
    groups: { type: 'string', value: 'A,B', about: 'approver groups of the person' },
    tenant: { type: 'string', value: 'NAME', about: 'without it installation.operatorTenant' },
    owner: { type: 'string', value: 'NAME', about: 'who answers for the agent (claim agent_owner)' },
    jti: { type: 'string', value: 'ID', about: 'with revoke: the id of one token, as issuing it said' },
    reason: { type: 'string', value: 'TEXT', about: 'with revoke: why; recorded' },
    ...SERVER_OPTIONS,
    ttl: { type: 'string', value: 'TIME', about: `how long it is good, such as 30m or 8h; without it ${DEFAULT_TTL}` },
  },
  run: async (given, terminal) => {
    const [word = 'issue'] = given.words;
    if (word === 'revoke' || word === 'list') return atServer(word, given, terminal);
    if (word !== 'issue') throw usage('token is followed by issue, revoke, list or nothing');
    if (given.text('jti') !== null || given.text('reason') !== null)
      throw usage('--jti and --reason belong to `token revoke`');
    const dir = given.text('new-key');
    return dir === null ? signed(given, terminal) : keyMade(dir, given, terminal);
  },
};

async function keyMade(dir: string, given: Given, terminal: Terminal): Promise<number> {
  if (dir === '') throw usage('--new-key needs a directory');
  if (['key', 'sub', 'roles'].some((name) => given.text(name) !== null)) {
    throw usage('--new-key only makes keys; sign a token with a second command');
  }
  const { privateFile, jwksFile } = await newKeyPair(dir);
  terminal.err(`made ${privateFile}: sign with it (--key), keep it from everybody\n`);
  terminal.err(`made ${jwksFile}: name it in identity.jwksFile, with Ed25519 in identity.algorithms\n`);
  return EXIT.done;
}

async function signed(given: Given, terminal: Terminal): Promise<number> {
  const claims = claimsOf(given);
  const keyFile = given.needed('key');
  const lifetimeMs = parseDuration(given.text('ttl') ?? DEFAULT_TTL);
  if (lifetimeMs === null || lifetimeMs < 1000) throw usage('--ttl takes a time such as 90s, 30m or 8h');
  const { environment } = terminal;
  const settings = loadSettings({ file: given.text('config') ?? settingsFile(environment), environment });
  const tenant = given.text('tenant') ?? settings.installation.operatorTenant;
  if (tenant === null) throw usage('--tenant is needed');
  const jti = randomUUID();
  const signer = await TokenSigner.read(keyFile);
  const { issuer, audience } = settings.identity;
  const clock = new SystemClock();
  const issuedAtSeconds = Math.floor(clock.now() / 1000);
  const lifetimeSeconds = Math.floor(lifetimeMs / 1000);
  const token = await signer.sign({ jti, ...claims, tenant }, { issuer, audience, issuedAtSeconds, lifetimeSeconds });
  await assertAccepted(token, settings, clock);
  const until = new Date((issuedAtSeconds + lifetimeSeconds) * 1000).toISOString();
  terminal.err(
    `signed for ${claims.sub} (${claims.roles.join(', ')}) in tenant ${tenant}, good until ${until}, id ${jti}\n`,
  );
  terminal.out(`${token}\n`);
  return EXIT.done;
}

async function atServer(word: 'revoke' | 'list', given: Given, terminal: Terminal): Promise<number> {
  const { environment } = terminal;
  const settings = loadSettings({ file: given.text('config') ?? settingsFile(environment), environment });
  if (word === 'list') {
    const answer = await operatorCall(given, settings, '/v1/tokens/revoked', undefined, 'GET');
    for (const { jti, tenant, sub, issuedBefore, until } of (answer as RevocationListRepresentation).items) {
      const what = jti === null ? `${sub} of ${tenant}, issued before ${issuedBefore}` : `token ${jti}`;
      terminal.out(`${what}\tuntil ${until}\n`);
    }
    return EXIT.done;
  }
  const answer = await operatorCall(given, settings, '/v1/tokens/revoke', revocationOf(given, settings));
  const { revocationId, until } = answer as RevocationRepresentation;
  terminal.err(`revoked; such tokens would have been good until ${until} at the latest\n`);
  terminal.out(`${revocationId}\n`);
  return EXIT.done;
}

function revocationOf(given: Given, { installation }: Settings): RevokeTokenBody {
  const [jti, sub, why] = [given.text('jti'), given.text('sub'), given.text('reason')];
  const reason = why === null ? {} : { reason: why };
  if ((jti === null) === (sub === null)) throw usage('either --jti or --sub is needed');
  if (jti !== null) return { jti, ...reason };
  const tenant = given.text('tenant') ?? installation.operatorTenant;
  if (tenant === null) throw usage('--tenant is needed');
  return { tenant, sub: given.needed('sub'), ...reason };
}

interface WrittenClaims {
  readonly sub: string;
  readonly roles: readonly string[];
  readonly act?: object;
  readonly groups?: readonly string[];
  readonly agent_owner?: string;
}

function claimsOf(given: Given): WrittenClaims {
  const roles = given.list('roles');
  if (roles.length === 0) throw usage('--roles is needed');
  const groups = given.list('groups');
  const owner = given.text('owner');
  const act = given
    .list('act')
    .reduceRight<object | null>((inner, sub) => (inner === null ? { sub } : { sub, act: inner }), null);
  return {
    sub: given.needed('sub'),
    roles,
    ...(act === null ? {} : { act }),
    ...(groups.length === 0 ? {} : { groups }),
    ...(owner === null ? {} : { agent_owner: owner }),
  };
}

/** Whoever gets a token that does not work looks for the fault elsewhere: the installation's own rules are asked first. */
async function assertAccepted(token: string, settings: Settings, clock: SystemClock): Promise<void> {
  try {
    await new TokenVerifier(settings.identity, clock).verify(token);
  } catch (error) {
    if (!(error instanceof CountersignError) || error.code !== 'unauthenticated') throw error;
    throw new CountersignError('token_refused', `the installation would refuse it: ${error.message}`);
  }
}
