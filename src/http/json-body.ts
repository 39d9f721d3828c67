import type { FastifyInstance, FastifyRequest } from 'fastify';
import { jsonLimits } from '../config/json-limits.js';
import type { Settings } from '../config/settings.js';
import { CountersignError } from '../domain/errors/countersign-error.js';
import { parseStrictJson } from '../domain/json/strict-json.js';

/** Only requests that say they are signed need their bytes after parsing. */
const SIGNED = 'webhook-signature';
const signedBodies = new WeakMap<FastifyRequest, Buffer>();

/** The bytes of a signed request as they arrived; empty when it was not signed or had no body. */
export function signedBodyOf(request: FastifyRequest): Uint8Array {
  return signedBodies.get(request) ?? new Uint8Array();
}

/**
 * The door for request bodies: bounded bytes, no content encoding, one strictly parsed JSON value. What a person will be
 * shown is what was parsed here, and it is what will be sent, so nothing ambiguous gets in.
 */
export function acceptStrictJsonOnly(server: FastifyInstance, settings: Settings): void {
  const limits = jsonLimits(settings, settings.http.bodyBytesMax);
  server.removeAllContentTypeParsers();
  server.addContentTypeParser(
    /^application\/json(;\s*charset=("?)utf-8\2)?$/i,
    { parseAs: 'buffer', bodyLimit: settings.http.bodyBytesMax },
    (request, body, done) => {
      const encoding = request.headers['content-encoding'];
      if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
        done(new CountersignError('unsupported_media_type', 'content encodings are not accepted'));
        return;
      }
      const parsed = parseStrictJson(body as Buffer, limits);
      if (request.headers[SIGNED] !== undefined) signedBodies.set(request, body as Buffer);
      if (parsed.ok) done(null, parsed.value);
      else done(new CountersignError('invalid_json', parsed.problem.message, { pointer: parsed.problem.pointer }));
    },
  );
}
