import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';

export interface BrowserFile {
  readonly type: string;
  readonly body: Buffer;
}

const find = createRequire(import.meta.url);

/** All that `/docs/{file}` serves. A name is looked up here and never becomes part of a path. */
const FROM_PACKAGE: ReadonlyMap<string, string> = new Map([
  ['swagger-ui.css', 'text/css; charset=utf-8'],
  ['swagger-ui-bundle.js', 'text/javascript; charset=utf-8'],
  ['favicon-32x32.png', 'image/png'],
]);

const START = `window.ui = SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#browser',
  deepLinking: true,
  // Nothing is sent to a validator elsewhere, and a token that was typed in is forgotten with the page.
  validatorUrl: null,
  persistAuthorization: false,
});
`;

const OWN: ReadonlyMap<string, BrowserFile> = new Map([
  ['start.js', { type: 'text/javascript; charset=utf-8', body: Buffer.from(START) }],
]);

/** Addresses are relative, so that the page also works below a path of a proxy. */
export const BROWSER_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Countersign API</title>
<link rel="stylesheet" href="docs/swagger-ui.css">
<link rel="icon" type="image/png" href="docs/favicon-32x32.png">
</head>
<body>
<div id="browser"></div>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
`;

/** No script but these files, and nothing from or to another host. */
export const BROWSER_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Null when there is no such file. */
export async function browserFile(name: string): Promise<BrowserFile | null> {
  const own = OWN.get(name);
  if (own !== undefined) return own;
  const type = FROM_PACKAGE.get(name);
  return type === undefined ? null : { type, body: await readFile(find.resolve(`swagger-ui-dist/${name}`)) };
}
