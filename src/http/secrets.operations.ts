import { acceptedCommand } from '../client/contract/control.js';
import {
  putSecretBody,
  retireSecretBody,
  rewrappedKeys,
  secretList,
  storedSecret,
} from '../client/contract/secrets.js';
import { revocation, revocationList, revokeTokenBody } from '../client/contract/tokens.js';
import type { Operation } from './openapi/operation.js';
import { RECORDING } from './openapi/usual-refusals.js';

export const LIST_SECRETS = {
  id: 'listSecrets',
  tag: 'Installation',
  summary: 'List secrets',
  description: 'Names and versions; no route gives a value. For operators and auditors of the installation.',
  answers: { 200: { means: 'Every version of every secret.', body: secretList } },
  refusals: ['not_authorized'],
} as const satisfies Operation;

export const PUT_SECRET = {
  id: 'putSecret',
  tag: 'Installation',
  summary: 'Store a new version of a secret',
  description:
    'For operators of the installation, from the machine itself. Settings that name the secret without a version use it from now on. Whoever may not is refused on record.',
  body: putSecretBody,
  answers: { 201: { means: 'It is stored.', body: storedSecret } },
  refusals: ['not_authorized', 'secret_connection_refused', ...RECORDING],
} as const satisfies Operation;

export const RETIRE_SECRET = {
  id: 'retireSecret',
  tag: 'Installation',
  summary: 'Retire a version of a secret',
  description: 'Takes its value out of the store for ever. Whoever may not is refused on record.',
  body: retireSecretBody,
  answers: { 202: { means: 'The value is gone.', body: acceptedCommand } },
  refusals: ['not_authorized', 'secret_not_found', 'secret_in_use', ...RECORDING],
} as const satisfies Operation;

export const REWRAP_KEYS = {
  id: 'rewrapKeys',
  tag: 'Installation',
  summary: 'Bring everything under the current key-encryption key',
  description: 'Answers when nothing lies under another one. Whoever may not is refused on record.',
  answers: { 200: { means: 'Everything is rewrapped.', body: rewrappedKeys } },
  refusals: ['not_authorized', ...RECORDING],
} as const satisfies Operation;

export const REVOKE_TOKEN = {
  id: 'revokeToken',
  tag: 'Installation',
  summary: 'End tokens before their time',
  description: 'Effective on this server when it answers. Whoever may not is refused on record.',
  body: revokeTokenBody,
  answers: { 201: { means: 'They are good no more.', body: revocation } },
  refusals: ['not_authorized', 'invalid_timestamp', ...RECORDING],
} as const satisfies Operation;

export const LIST_REVOCATIONS = {
  id: 'listRevocations',
  tag: 'Installation',
  summary: 'List revoked tokens',
  description: 'Those that would not have expired by themselves. For operators and auditors of the installation.',
  answers: { 200: { means: 'The revocations, the oldest first.', body: revocationList } },
  refusals: ['not_authorized'],
} as const satisfies Operation;
