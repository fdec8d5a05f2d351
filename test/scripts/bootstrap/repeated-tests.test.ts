import {expect, test} from 'vitest';
import {
  explainTooMany,
  findRepeatedTests,
  formatLedger,
  type RepeatedTest,
} from '../../../scripts/bootstrap/repeated-tests.mjs';

const result = (fullName: string, status: string, ...failureMessages: readonly string[]) => ({
  ...{fullName, status, failureMessages},
});
const repeatedTest = (test: string, hasPassed: boolean, ...errors: readonly string[]): RepeatedTest => ({
  ...{project: 'e2e', file: '/kcri/test/e2e/pods.test.ts', test, hasPassed, errors},
});

test('tests with more than one attempt are repeated tests', () => {
  const assertionResults = [
    result('starts', 'passed'),
    result('stops', 'failed', 'Error: once'),
    result('restarts', 'passed', 'Error: late\n  at a.ts', 'Error: later\n  at a.ts'),
    result('ends', 'failed', 'Error: a', 'Error: b', 'Error: c'),
  ];
  const report = {
    testResults: [{name: '/kcri/test/e2e/pods.test.ts', status: 'failed', message: '', assertionResults}],
  };
  expect(findRepeatedTests(report, 'e2e')).toEqual([
    repeatedTest('restarts', true, 'Error: late', 'Error: later'),
    repeatedTest('ends', false, 'Error: a', 'Error: b', 'Error: c'),
  ]);
});

test('the ledger has each repeated test with the first lines of its errors', () => {
  const repeated = [
    repeatedTest('restarts', true, 'Error: late'),
    repeatedTest('ends', false, 'Error: a', 'Error: b'),
  ];
  expect(formatLedger(repeated, '/kcri/')).toEqual([
    'repeated tests (2, at most 5):',
    '  e2e test/e2e/pods.test.ts: restarts: passed after one failed attempt',
    '    Error: late',
    '  e2e test/e2e/pods.test.ts: ends: failed after 2 failed attempts',
    ...['    Error: a', '    Error: b'],
  ]);
  expect(formatLedger([], '/kcri/')).toEqual([]);
});

test('five repeated tests pass, and a sixth fails the run', () => {
  const five = ['a', 'b', 'c', 'd', 'e'].map((name) => repeatedTest(name, true, 'Error: late'));
  expect(
    explainTooMany([...five, repeatedTest('failed anyway', false, 'Error: a', 'Error: b')]),
  ).toBeUndefined();
  expect(explainTooMany([...five, repeatedTest('f', true, 'Error: late')])).toBe(
    '6 tests passed only when repeated, but at most 5 may: make them wait for facts',
  );
});
