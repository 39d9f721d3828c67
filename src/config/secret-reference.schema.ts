import { z } from 'zod';

/** Where a secret is: a variable, a file, or the store of secrets (its newest version, or one that is named). */
export const SECRET_REFERENCE =
  /^(env:[A-Za-z_][A-Za-z0-9_]*|file:.+|secret:[A-Za-z][A-Za-z0-9_.-]{0,63}(@[1-9]\d{0,8})?)$/;

export const secretReference = z
  .string()
  .regex(SECRET_REFERENCE, 'must be env:NAME, file:PATH, secret:NAME or secret:NAME@VERSION');
