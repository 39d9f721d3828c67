const { existsSync, readFileSync, writeFileSync, writeSync } = require('node:fs');

/** How long open handles of the specs may keep the process alive after the last result. */
const LINGER_MS = 10_000;

/**
 * Ends a run with one plain line, `N passed, N failed[, N skipped]`. It is written when the process exits, so nothing
 * that Jest prints after its own summary can follow it. A suite that could not run counts as one failure.
 *
 * Where `TEST_SUMMARY_FILE` is set, the line is written there too: a caller learns that the run got that far. Where
 * `TEST_TOTALS_FILE` is set, runs that share it are counted together.
 */
class PlainReporter {
  onRunComplete(_contexts, results) {
    const { passed, failed, skipped } = withEarlier({
      passed: results.numPassedTests,
      failed: results.numFailedTests + results.numRuntimeErrorTestSuites,
      skipped: results.numPendingTests + results.numTodoTests,
    });
    const line = `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`;
    const file = process.env.TEST_SUMMARY_FILE;
    if (file) writeFileSync(file, line);
    process.once('exit', () => writeWhole(line));
    setTimeout(() => {
      process.stderr.write('Specs left handles open; the run ends here.\n');
      process.exit(results.success ? 0 : 1);
    }, LINGER_MS).unref();
  }
}

/** The counts of this run and of those before it that share a file. */
function withEarlier(counts) {
  const file = process.env.TEST_TOTALS_FILE;
  if (!file) return counts;
  const earlier = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : { passed: 0, failed: 0, skipped: 0 };
  const totals = {
    passed: earlier.passed + counts.passed,
    failed: earlier.failed + counts.failed,
    skipped: earlier.skipped + counts.skipped,
  };
  writeFileSync(file, JSON.stringify(totals));
  return totals;
}

/** A pipe may be full for a moment; at exit there is no later turn of the loop to wait for it. */
function writeWhole(line) {
  for (let tries = 0; tries < 1000; tries += 1) {
    try {
      writeSync(1, line);
      return;
    } catch (error) {
      if (error.code !== 'EAGAIN') return;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}

module.exports = PlainReporter;
