/** The counts of a run without tests. */
export const NO_TESTS = {passed: 0, failed: 0, skipped: 0};

/**
 * Counts the tests of a report of vitest's JSON reporter. A file that fails before its first test counts as one failed
 * test.
 */
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

/**
 * Describes the tests of a report that failed, and those that passed only when they were repeated, each with its errors:
 * the runner prints the former among the lines of the other projects, and nothing about the latter.
 */
export function describeFailures(report) {
  return report.testResults.flatMap(({name, status, message, assertionResults}) => {
    const tests = assertionResults
      .filter(({failureMessages}) => failureMessages.length > 0)
      .map((test) => {
        const outcome = test.status === 'failed' ? 'failed' : 'passed only when repeated';
        return [`${outcome}: ${name}: ${test.fullName}`, ...test.failureMessages].join('\n');
      });
    return status === 'failed' && tests.length === 0 ? [`failed: ${name}\n${message}`] : tests;
  });
}

/** Adds up two counts. */
export function addCounts(one, other) {
  return {
    passed: one.passed + other.passed,
    failed: one.failed + other.failed,
    skipped: one.skipped + other.skipped,
  };
}

/** Returns the last line of `npm test`. */
export function formatTestCount({passed, failed, skipped}) {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}

/**
 * Returns why a run without failed tests still fails, or undefined if it passes. In CI all tests on real runtimes must
 * run, on two runtimes.
 */
export function findProblem({total, onRuntimes, runtimes, inCi}) {
  if (total.passed + total.failed === 0) return 'no test ran';
  if (!inCi) return undefined;
  if (runtimes < 2) return 'CI needs two container runtimes, but only one is available: see the reason above';
  if (onRuntimes.passed === 0) return 'no test ran on a container runtime, but CI needs all of them';
  return onRuntimes.skipped > 0
    ? `${onRuntimes.skipped} tests on container runtimes were skipped, but CI needs all of them`
    : undefined;
}
