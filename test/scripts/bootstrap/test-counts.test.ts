import {describe, expect, test} from 'vitest';
import {
  addCounts,
  formatTestCount,
  countTests,
  NO_TESTS,
  findProblem,
} from '../../../scripts/bootstrap/test-counts.mjs';

const report = {numPassedTests: 5, numFailedTests: 1, numPendingTests: 2, numTodoTests: 1};
const failedTest = {status: 'failed', assertionResults: [{status: 'failed'}, {status: 'passed'}]};
const brokenFile = {status: 'failed', assertionResults: []};

describe('the closing line of npm test', () => {
  test('counts what the runner reports', () => {
    expect(formatTestCount(countTests({...report, testResults: [failedTest]}))).toBe(
      '5 passed, 1 failed, 3 skipped',
    );
  });

  test('counts a file that fails before its first test as a failure', () => {
    expect(countTests({...report, testResults: [failedTest, brokenFile]}).failed).toBe(2);
  });

  test('adds the projects up', () => {
    const one = {passed: 1, failed: 2, skipped: 3};
    expect(addCounts(one, addCounts(one, NO_TESTS))).toEqual({passed: 2, failed: 4, skipped: 6});
  });
});

describe('a run that does not count', () => {
  const good = {
    total: {passed: 9, failed: 0, skipped: 0},
    onRuntimes: {passed: 3, failed: 0, skipped: 0},
    runtimes: 2,
    inCi: true,
  };
  test.each([
    ['all ran on two runtimes', {}, undefined],
    ['nothing ran', {total: NO_TESTS, inCi: false}, 'no test ran'],
    ['one runtime in CI', {runtimes: 1}, 'CI needs two container runtimes'],
    ['one runtime elsewhere', {runtimes: 1, inCi: false}, undefined],
    ['no runtime test in CI', {onRuntimes: NO_TESTS}, 'no test ran on a container runtime'],
    [
      'a skipped runtime test in CI',
      {onRuntimes: {passed: 2, failed: 0, skipped: 1}},
      '1 tests on container runtimes were skipped',
    ],
  ])('%s', (_, differing, problem) => {
    const found = findProblem({...good, ...differing});
    expect(found ?? 'none').toContain(problem ?? 'none');
  });
});
