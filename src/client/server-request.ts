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
