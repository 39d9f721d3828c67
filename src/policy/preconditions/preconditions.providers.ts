import type { Provider } from '@nestjs/common';
import { PreconditionReader } from './precondition-reader.js';
import { Preconditions } from './preconditions.js';

export const PRECONDITIONS: Provider[] = [PreconditionReader, Preconditions];
