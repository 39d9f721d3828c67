import { define } from './event-definition.js';

/** What a harness states about its run: why it does something, what came of it, who helps. Part of the catalogue. */
export const RUN_CHAIN_EVENTS = {
  'reasoning.recorded': define('run', 1, ['harness'], {
    goalRef: 'text',
    conclusion: 'text',
    knowledgeRefs: 'list',
    evidenceRefs: 'list',
    risk: ['low', 'medium', 'high', 'critical'],
    contextBuildId: 'text?',
    suggestedAction: 'text?',
  }),
  'artifact.created': define('run', 1, ['capability-runtime', 'harness'], {
    goalRef: 'text',
    mediaType: 'text',
    digest: 'text',
    location: 'text',
    title: 'text?',
  }),
  'subagent.spawned': define('run', 1, ['harness'], {
    subagentId: 'text',
    childSessionId: 'text',
    goalRef: 'text',
  }),
  'subagent.completed': define('run', 1, ['harness'], { subagentId: 'text', resultRef: 'text?', status: 'text' }),
  'subagent.failed': define('run', 1, ['harness'], { subagentId: 'text', resultRef: 'text?', status: 'text' }),
  /** A sub-agent ended after its run had: recorded, and nothing of the run changes. */
  'subagent.late_result': define('run', 1, ['harness'], { subagentId: 'text', resultRef: 'text?', status: 'text' }),
} as const;
