/** Names the product, event catalogue and schema versions of this program, as every record it writes does. */
export class VersionSet {
  constructor(readonly id: string) {}
}
