import type {
  RewrappedKeysRepresentation,
  SecretListRepresentation,
  StoredSecretRepresentation,
} from '../client/contract/secrets.js';

/** The same work on the running server and on the directory of a stopped one. */
export interface SecretWork {
  put(name: string, value: string): Promise<Pick<StoredSecretRepresentation, 'name' | 'version'>>;
  list(): Promise<SecretListRepresentation['items']>;
  retire(name: string, version: number): Promise<void>;
  rewrap(): Promise<RewrappedKeysRepresentation>;
}
