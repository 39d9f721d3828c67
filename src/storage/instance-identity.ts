import type { InstanceRef } from './store.js';

/** This process in the database, once it has registered. A class, so that it can be injected. */
export class InstanceIdentity {
  constructor(private readonly instance: InstanceRef) {}

  get(): InstanceRef {
    return this.instance;
  }
}
