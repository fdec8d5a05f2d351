import {describe, expect, test} from 'vitest';
import {
  addCounts,
  formatTestCount,
  countTests,
  describeFailures,
  NO_TESTS,
  findProblem,
} from '../../../scripts/bootstrap/test-counts.mjs';

const report = {numPassedTests: 5, numFailedTests: 1, numPendingTests: 2, numTodoTests: 1};
const failedTest = {status: 'failed', assertionResults: [{status: 'failed'}, {status: 'passed'}]};
const brokenFile = {status: 'failed', assertionResults: []};

describe('the closing line of npm test', () => {
  test('has the counts of the runner', () => {
    expect(formatTestCount(countTests({...report, testResults: [failedTest]}))).toBe(
      '5 passed, 1 failed, 3 skipped',
    );
  });

  test('counts a file that fails before its first test as a failure', () => {
    expect(countTests({...report, testResults: [failedTest, brokenFile]}).failed).toBe(2);
  });

  test('adds up the projects', () => {
    const one = {passed: 1, failed: 2, skipped: 3};
    expect(addCounts(one, addCounts(one, NO_TESTS))).toEqual({passed: 2, failed: 4, skipped: 6});
  });
});

describe('a test run', () => {
  const good = {
    total: {passed: 9, failed: 0, skipped: 0},
    onRuntimes: {passed: 3, failed: 0, skipped: 0},
    runtimes: 2,
    inCi: true,
  };
  test.each([
    ['counts if all tests ran on two runtimes', {}, undefined],
    ['needs a test', {total: NO_TESTS, inCi: false}, 'no test ran'],
    ['needs two runtimes in CI', {runtimes: 1}, 'CI needs two container runtimes'],
    ['counts with one runtime outside CI', {runtimes: 1, inCi: false}, undefined],
    ['needs a runtime test in CI', {onRuntimes: NO_TESTS}, 'no test ran on a container runtime'],
    [
      'must not skip a runtime test in CI',
      {onRuntimes: {passed: 2, failed: 0, skipped: 1}},
      '1 tests on container runtimes were skipped',
    ],
  ])('%s', (_, differing, problem) => {
    const found = findProblem({...good, ...differing});
    expect(found ?? 'none').toContain(problem ?? 'none');
  });
});

test('the tests that failed or were repeated are shown with their errors', () => {
  const passed = {status: 'passed', fullName: 'a lease is renewed', failureMessages: []};
  const repeated = {...passed, fullName: 'a pod is started', failureMessages: ['Error: too late']};
  const failed = {
    ...{status: 'failed', fullName: 'a pod is stopped'},
    failureMessages: ['Error: too early', 'Error: late'],
  };
  const testResults = [
    {name: 'pods.test.ts', status: 'failed', message: '', assertionResults: [passed, repeated, failed]},
    {name: 'nodes.test.ts', status: 'failed', message: 'SyntaxError: x', assertionResults: []},
    {name: 'images.test.ts', status: 'passed', message: '', assertionResults: [passed]},
  ];
  expect(describeFailures({testResults})).toEqual([
    'passed only when repeated: pods.test.ts: a pod is started\nError: too late',
    'failed: pods.test.ts: a pod is stopped\nError: too early\nError: late',
    'failed: nodes.test.ts\nSyntaxError: x',
  ]);
});
