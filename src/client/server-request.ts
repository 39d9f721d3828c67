/** An answer of a server of ours, or of whatever is at its address. */
export interface ServerAnswer {
  readonly status: number;
  /** What it said, where that was JSON; null otherwise. */
  readonly body: unknown;
}

export interface ServerRequest {
  readonly url: string;
  readonly path: string;
  readonly token: string;
  readonly body?: object;
}

export type Method = 'GET' | 'POST' | 'PUT';

/** One request with a bearer token; follows no redirect. Rejects when nobody answers. Takes as long as the server takes. */
export async function askServer(method: Method, { url, path, token, body }: ServerRequest): Promise<ServerAnswer> {
  const response = await fetch(new URL(path, url), {
    method,
    redirect: 'error',
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json().catch(() => null)) as unknown };
}

const THIS_MACHINE = /^(?:localhost|127(?:\.\d{1,3}){3}|0\.0\.0\.0|\[::1?\])$/;

/** Whether nobody on a network can read what is sent there: over TLS, or to this machine. False for what is no address. */
export function isPrivateAddress(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  return protocol === 'https:' || (protocol === 'http:' && THIS_MACHINE.test(hostname));
}
