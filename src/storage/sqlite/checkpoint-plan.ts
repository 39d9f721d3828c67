import type { CheckpointProgress } from './writer-port.js';

/** A log shorter than this is left to grow: starting again from its beginning would save nothing. */
const LOG_FRAMES_MIN = 256;

/** What the writer may be asked to move itself: so few frames cost it no more than one flush. */
const TAIL_FRAMES_MAX = 64;

/** After so many passes the writer moves what is left, however much it is: the disk gains nothing on it. */
const PASSES_MAX = 6;

export type CheckpointStep = 'rest' | 'pass' | 'tail';

/**
 * What to do after a pass. `movedBefore` is how many frames of the log were moved when the pass began; `passes` counts it.
 *
 * A pass does not see what is written while it runs. What it has moved itself tells how long it took, and so how much has been written
 * meanwhile: each pass is shorter than the one before, until what is left is a tail. Only when all is moved can the log start again from
 * its beginning, and while the writer writes without a pause only the writer ever sees that moment.
 */
export function checkpointStep(movedBefore: number, progress: CheckpointProgress, passes: number): CheckpointStep {
  const { logFrames, checkpointedFrames } = progress;
  // The rest is still needed by a reader: the log cannot start again now.
  if (logFrames < LOG_FRAMES_MIN || checkpointedFrames < logFrames) return 'rest';
  const moved = checkpointedFrames - movedBefore;
  return moved <= TAIL_FRAMES_MAX || passes >= PASSES_MAX ? 'tail' : 'pass';
}
