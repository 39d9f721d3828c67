import { fileURLToPath } from 'node:url';
import { loadResumeContract, type ResumeContract } from '../../src/contracts/resume-contract.js';
import type { ResumeRules } from '../../src/proxy/sweep/resume-rules.js';

export const CONTRACT_FILE = fileURLToPath(new URL('../../config/resume-contract.yaml', import.meta.url));

/** The contract as it is delivered, for a program whose version set is the one the store in memory records. */
export const deliveredContract = (versionSetId = 'test'): ResumeContract =>
  loadResumeContract(CONTRACT_FILE, versionSetId);

/** Everything goes on. */
export const GO_ON: ResumeRules = { authorized: () => 'send', waitsForAccepted: true };
