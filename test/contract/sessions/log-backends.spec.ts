import { announceMissingZstd, FRAMED_CODECS } from '../../builders/log-codecs.js';
import { databaseUnderTest, jsonlUnderTest, memoryUnderTest } from './log-backends.js';
import { describeLogBackend } from './log-backend-contract.js';

describeLogBackend('the jsonl backend', jsonlUnderTest('none'));
announceMissingZstd('the jsonl backend with zstd frames');
for (const codec of FRAMED_CODECS) describeLogBackend(`the jsonl backend with ${codec} frames`, jsonlUnderTest(codec));
describeLogBackend('the database backend', () => databaseUnderTest());
describeLogBackend('the memory backend [D-82]', memoryUnderTest);
