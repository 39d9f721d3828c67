/** Rows of secrets and of tokens that count no more. Part of `Tables`. */
export interface SecretTables {
  /** Operational: what is in an envelope stands in no event. Bytes are base64. */
  secrets: {
    /** `*`: the installation's. */
    tenant: string;
    name: string;
    version: number;
    /** The data key of this version, wrapped by the key-encryption key `kek_id`; null once the version is retired. */
    wrapped: string | null;
    kek_id: string | null;
    /** The value under the data key; null once the version is retired. */
    sealed: string | null;
    created_at: string;
    retired_at: string | null;
  };
  revoked_tokens: {
    revocation_id: string;
    /** Set where one token is revoked; else the three after it. */
    jti: string | null;
    tenant: string | null;
    sub: string | null;
    issued_before: string | null;
    /** From here on every token that this is about has expired. */
    until: string;
    reason: string | null;
    revoked_at: string;
  };
}
