import { receipt, statementBody, statementReceipt } from '../client/contract/late-evidence.js';
import { WEBHOOK_ID, WEBHOOK_SIGNATURE, WEBHOOK_TIMESTAMP } from './openapi/headers.js';
import type { Operation } from './openapi/operation.js';
import { RECORDING } from './openapi/usual-refusals.js';

const CALLED_BACK = {
  tag: 'Tool calls',
  headers: [WEBHOOK_ID, WEBHOOK_TIMESTAMP, WEBHOOK_SIGNATURE],
  answers: {
    200: { means: 'A callback with this `webhook-id` is on record already.', body: receipt },
    202: { means: 'The callback is on record; what follows from it shows in the call.', body: receipt },
  },
  refusals: ['callback_unauthenticated', 'invalid_json', 'payload_too_large', 'unsupported_media_type', ...RECORDING],
} as const;

const SIGNED =
  "The body is the tool's own JSON; the manifest says how to read it. Signed as Standard Webhooks say: that is enough, and a token beside it must have the role `connector`.";

export const CALL_BACK = {
  ...CALLED_BACK,
  id: 'callBack',
  summary: 'Tell how a call went on',
  description: `\`toolCallId\` is the id of the call, or the key that the tool got from us. ${SIGNED}`,
} as const satisfies Operation;

export const CALL_BACK_FOR = {
  ...CALLED_BACK,
  id: 'callBackForCapability',
  summary: 'Tell how some call of a capability went on',
  description: `For tools with one address for all calls: the body names the call. ${SIGNED}`,
} as const satisfies Operation;

export const RECORD_STATEMENT = {
  id: 'recordStatement',
  tag: 'Tool calls',
  summary: 'Hand in lines of a statement',
  description:
    "What the tool's own books say, as evidence for calls whose result is unknown. Lines are recorded one by one; a line that names no call is kept.",
  body: statementBody,
  answers: { 200: { means: 'Every line is on record.', body: statementReceipt } },
  refusals: ['capability_unknown', 'statement_not_supported', ...RECORDING],
} as const satisfies Operation;
