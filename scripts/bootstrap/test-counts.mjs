/** What a run of tests came to. */
export const NO_TESTS = {passed: 0, failed: 0, skipped: 0};

/** Counts a report of vitest's JSON reporter. A file that fails before its first test counts as one failed test. */
export function countTests(report) {
  const broken = report.testResults.filter(
    ({status, assertionResults}) =>
      status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  );
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + broken.length,
    skipped: report.numPendingTests + report.numTodoTests,
  };
}

/** Both together. */
export function addCounts(one, other) {
  return {
    passed: one.passed + other.passed,
    failed: one.failed + other.failed,
    skipped: one.skipped + other.skipped,
  };
}

/** The last line of `npm test`. */
export function formatTestCount({passed, failed, skipped}) {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}

/**
 * Why a run fails although no test of it did; undefined when it doesn't. In CI the tests on real runtimes must
 * all have run, on two of them.
 */
export function findProblem({total, onRuntimes, runtimes, inCi}) {
  if (total.passed + total.failed === 0) return 'no test ran';
  if (!inCi) return undefined;
  if (runtimes < 2)
    return 'CI needs two container runtimes and has one: see above why there is no second one';
  if (onRuntimes.passed === 0) return 'no test ran on a container runtime, and CI needs them all';
  return onRuntimes.skipped > 0
    ? `${onRuntimes.skipped} tests on container runtimes were skipped, and CI needs them all`
    : undefined;
}
