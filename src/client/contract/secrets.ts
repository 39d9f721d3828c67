import { z } from 'zod';
import { instant } from './fields.js';

export const secretName = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9_.-]{0,63}$/, 'must be a letter and up to 63 letters, digits, _, . or -');

const version = z.int().min(1).max(999_999_999);

/** The value goes in and never comes out again. */
export const putSecretBody = z
  .strictObject({ value: z.string().min(1).max(65_536).describe('At most 65536 bytes; taken as it is.') })
  .meta({ id: 'PutSecret' });
export type PutSecretBody = z.infer<typeof putSecretBody>;

export const retireSecretBody = z.strictObject({ version }).meta({ id: 'RetireSecret' });
export type RetireSecretBody = z.infer<typeof retireSecretBody>;

export const storedSecret = z
  .strictObject({
    name: z.string(),
    version: z.int(),
    reference: z.string().describe('What the settings write for exactly this version.'),
  })
  .meta({ id: 'StoredSecret' });
export type StoredSecretRepresentation = z.infer<typeof storedSecret>;

export const secretVersion = z
  .strictObject({
    name: z.string(),
    version: z.int(),
    kekId: z.string().nullable().describe('The key-encryption key it lies under; null once it is retired.'),
    createdAt: instant,
    retiredAt: instant.nullable(),
  })
  .meta({ id: 'SecretVersion' });

export const secretList = z.strictObject({ items: z.array(secretVersion) });
export type SecretListRepresentation = z.infer<typeof secretList>;

export const rewrappedKeys = z
  .strictObject({
    kekId: z.string().describe('The key-encryption key that everything is wrapped by now.'),
    keysRewrapped: z.int(),
    previousKekIds: z.array(z.string()).describe('Key-encryption keys that were needed until now.'),
  })
  .meta({ id: 'RewrappedKeys' });
export type RewrappedKeysRepresentation = z.infer<typeof rewrappedKeys>;
