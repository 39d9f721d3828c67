import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { ChatSettings, FileSinkSettings, Settings, SinkSettings, WebhookSettings } from '../config/settings.js';
import { CountersignError } from '../domain/errors/countersign-error.js';
import { isAddressAllowed, isAllowEntryValid } from '../egress/address-policy.js';
import { parseRequestTarget } from '../egress/request-target.js';
import { resolveSecret } from '../secrets/secret-reference.js';
import { signerProblems, type SecretResolver } from '../secrets/webhook-signer.js';

/** @throws CountersignError `invalid_settings` whose `problems` name everything that is wrong with the sinks. */
export function checkSinks({ outbox }: Pick<Settings, 'outbox'>, resolve: SecretResolver = resolveSecret): void {
  const problems = Object.entries(outbox.sinks).flatMap(([name, sink]) =>
    problemsOf(sink, resolve).map((problem) => `outbox.sinks.${name}.${problem}`),
  );
  const files = Object.values(outbox.sinks).flatMap((sink) => (sink.kind === 'file' ? [sink.path] : []));
  if (new Set(files).size < files.length) problems.push('outbox.sinks: two sinks write the same file');
  if (problems.length === 0) return;
  throw new CountersignError('invalid_settings', `settings are not usable:\n  ${problems.join('\n  ')}`, { problems });
}

function problemsOf(sink: SinkSettings, resolve: SecretResolver): readonly string[] {
  const backoff = sink.backoffMsMax < sink.backoffMs ? ['backoffMsMax: must not be shorter than backoffMs'] : [];
  return [...backoff, ...kindProblems(sink, resolve)];
}

function kindProblems(sink: SinkSettings, resolve: SecretResolver): readonly string[] {
  switch (sink.kind) {
    case 'webhook':
      return webhookProblems(sink, resolve);
    case 'file':
      return fileProblems(sink);
    case 'chat':
      return chatProblems(sink, resolve);
  }
}

function webhookProblems(
  { url, allowAddresses, secrets }: WebhookSettings,
  resolve: SecretResolver,
): readonly string[] {
  const signing = signerProblems(secrets, resolve).map((problem) => `secrets: ${problem}`);
  return [...signing, ...addressProblems(url, allowAddresses)];
}

/** The address is a secret: no problem names it. */
function chatProblems({ url, allowAddresses }: ChatSettings, resolve: SecretResolver): readonly string[] {
  const address = resolve(url);
  return address === null ? [`url: ${url} has no value`] : addressProblems(address, allowAddresses);
}

function addressProblems(url: string, allowAddresses: readonly string[]): readonly string[] {
  const problems: string[] = [];
  for (const entry of allowAddresses) {
    if (!isAllowEntryValid(entry))
      problems.push(`allowAddresses: ${entry} is neither a class nor a range of addresses`);
  }
  const parsed = parseRequestTarget(url);
  if (!parsed.ok)
    return [...problems, `url: must be an absolute http or https URL without user, fragment and dot segments`];
  const { origin, literalAddress } = parsed.target;
  if (origin.startsWith('http:') && allowAddresses.length === 0) {
    problems.push('url: public addresses need https; http is for addresses named in allowAddresses');
  }
  if (literalAddress !== null && !isAddressAllowed(literalAddress, allowAddresses)) {
    problems.push('url: its address is not public and not named in allowAddresses');
  }
  return problems;
}

function fileProblems({ path }: FileSinkSettings): readonly string[] {
  const folder = statSync(dirname(path), { throwIfNoEntry: false });
  if (folder?.isDirectory() !== true) return [`path: its folder does not exist`];
  const file = statSync(path, { throwIfNoEntry: false });
  return file === undefined || file.isFile() ? [] : ['path: is there and is no regular file'];
}
