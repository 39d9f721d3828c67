import { databaseUnderTest, jsonlUnderTest, memoryUnderTest } from './log-backends.js';
import { describeLogBackend } from './log-backend-contract.js';

describeLogBackend('the jsonl backend', jsonlUnderTest('none'));
describeLogBackend('the jsonl backend with gzip frames', jsonlUnderTest('gzip'));
describeLogBackend('the database backend', () => databaseUnderTest());
describeLogBackend('the memory backend [D-82]', memoryUnderTest);
