import type { Type } from '@nestjs/common';
import type { Settings } from '../../config/settings.js';
import { PRODUCT_VERSION } from '../../system/product-version.js';
import { buildDocument } from './document.js';

/** The document of this installation as JSON. It cannot change while the process lives, and few ever ask for it. */
export class ApiDocument {
  private text: string | null = null;

  constructor(
    private readonly controllers: readonly Type[],
    private readonly settings: Settings,
  ) {}

  json(): string {
    const { publicUrl } = this.settings.installation;
    this.text ??= JSON.stringify(buildDocument(this.controllers, { version: PRODUCT_VERSION, publicUrl }));
    return this.text;
  }
}
