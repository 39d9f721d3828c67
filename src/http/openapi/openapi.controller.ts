import { Controller, Get, Param, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import { Public } from '../../identity/bearer.guard.js';
import { ApiDocument } from './api-document.js';
import { BROWSER_PAGE, BROWSER_POLICY, browserFile } from './browser-files.js';
import { GET_BROWSER, GET_BROWSER_FILE, GET_DOCUMENT } from './openapi.operations.js';
import { Implements } from './operation.js';

/** The document and a page to read it with. Open to everybody: it says what the product can do and nothing of what it did. */
@Controller()
export class OpenApiController {
  constructor(private readonly document: ApiDocument) {}

  @Get('openapi.json')
  @Public()
  @Implements(GET_DOCUMENT)
  get(@Res() reply: FastifyReply): void {
    void reply
      .type('application/json; charset=utf-8')
      .header('x-content-type-options', 'nosniff')
      .send(this.document.json());
  }

  @Get('docs')
  @Public()
  @Implements(GET_BROWSER)
  page(@Res() reply: FastifyReply): void {
    void reply
      .type('text/html; charset=utf-8')
      .header('content-security-policy', BROWSER_POLICY)
      .header('x-content-type-options', 'nosniff')
      .header('referrer-policy', 'no-referrer')
      .send(BROWSER_PAGE);
  }

  @Get('docs/:file')
  @Public()
  @Implements(GET_BROWSER_FILE)
  async file(@Param('file') name: string, @Res() reply: FastifyReply): Promise<void> {
    const file = await browserFile(name);
    if (file === null) throw new CountersignError('not_found', 'there is no such file');
    void reply
      .type(file.type)
      .header('cache-control', 'public, max-age=3600')
      .header('x-content-type-options', 'nosniff')
      .send(file.body);
  }
}
