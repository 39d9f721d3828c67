import type { Operation } from './operation.js';
import { z } from 'zod';

export const GET_DOCUMENT = {
  id: 'getOpenApiDocument',
  tag: 'Installation',
  summary: 'This document',
  answers: { 200: { means: 'OpenAPI 3.1.', body: z.looseObject({ openapi: z.string() }) } },
  refusals: [],
} as const satisfies Operation;

export const GET_BROWSER = {
  id: 'getApiBrowser',
  tag: 'Installation',
  summary: 'This document for people',
  answers: { 200: { means: 'A page that shows the document.', text: { 'text/html': 'The page.' } } },
  refusals: [],
} as const satisfies Operation;

export const GET_BROWSER_FILE = {
  id: 'getApiBrowserFile',
  tag: 'Installation',
  summary: 'A file of that page',
  answers: {
    200: {
      means: 'One of the few files there are.',
      text: { 'text/css': 'Its style.', 'text/javascript': 'Its scripts.', 'image/png': 'Its icon.' },
    },
  },
  refusals: [],
} as const satisfies Operation;
