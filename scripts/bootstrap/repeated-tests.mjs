/** Maximum number of tests that may pass only when repeated. A busy machine sometimes delays a program on a real runtime. */
const MAX_REPEATED = 5;

/**
 * Returns the tests of a report of vitest's JSON reporter that failed and were repeated.
 *
 * @param {import('./test-counts.mjs').FailuresReport} report
 * @param {string} project
 * @returns {import('./repeated-tests.mjs').RepeatedTest[]}
 */
export function findRepeatedTests(report, project) {
  return report.testResults.flatMap(({name, assertionResults}) =>
    assertionResults
      .filter(({status, failureMessages}) => failureMessages.length > (status === 'failed' ? 1 : 0))
      .map(({status, fullName, failureMessages}) => ({
        ...{project, file: name, test: fullName, hasPassed: status !== 'failed'},
        errors: failureMessages.map((message) => message.split('\n')[0] ?? ''),
      })),
  );
}

/**
 * Returns the ledger of the repeated tests, one line each and one for each failed attempt; empty without any.
 *
 * @param {readonly import('./repeated-tests.mjs').RepeatedTest[]} repeated
 * @param {string} root directory that file names are relative to
 * @returns {string[]}
 */
export function formatLedger(repeated, root) {
  if (repeated.length === 0) return [];
  return [
    `repeated tests (${repeated.length}, at most ${MAX_REPEATED}):`,
    ...repeated.flatMap(({project, file, test, hasPassed, errors}) => [
      `  ${project} ${file.replace(root, '')}: ${test}: ${hasPassed ? 'passed' : 'failed'} after ${describeAttempts(errors)}`,
      ...errors.map((line) => `    ${line}`),
    ]),
  ];
}

function describeAttempts({length}) {
  return length === 1 ? 'one failed attempt' : `${length} failed attempts`;
}

/**
 * Returns why a run fails whose tests all passed in the end, or undefined if few enough were repeated.
 *
 * @param {readonly import('./repeated-tests.mjs').RepeatedTest[]} repeated
 * @returns {string | undefined}
 */
export function explainTooMany(repeated) {
  const {length} = repeated.filter(({hasPassed}) => hasPassed);
  return length <= MAX_REPEATED
    ? undefined
    : `${length} tests passed only when repeated, but at most ${MAX_REPEATED} may: make them wait for facts`;
}
