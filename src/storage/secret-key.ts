/** What one version of a secret is known by. */
export interface SecretName {
  /** `*`: the installation's. */
  readonly tenant: string;
  readonly name: string;
  readonly version: number;
}

/** Bound to the wrapped key of a secret: it cannot be moved to another name or version. */
export function secretKeyContext({ tenant, name, version }: SecretName): string {
  return `countersign/secret-key/${JSON.stringify([tenant, name, version])}`;
}

/** Bound to the sealed value. */
export function secretValueContext({ tenant, name, version }: SecretName): string {
  return `countersign/secret/${JSON.stringify([tenant, name, version])}`;
}
