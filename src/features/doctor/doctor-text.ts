import type {ChalkInstance} from 'chalk';
import {counted} from '../../base/counted.js';
import {adviceText, shown} from '../why/answer.js';
import type {CheckResult, Result} from './check.js';

const RESULT_WIDTH = 9;

const PAINT: Readonly<Record<Result, (chalk: ChalkInstance) => ChalkInstance>> = {
  ok: (chalk) => chalk.green,
  warning: (chalk) => chalk.yellow,
  failure: (chalk) => chalk.red,
  skipped: (chalk) => chalk.dim,
};

/** Options of doctorText. */
export interface DoctorTextOptions {
  readonly chalk: ChalkInstance;
  /** `kcri` with its global flags. */
  readonly prefix: readonly string[];
}

/** Formats a line about each check, with details and remedies of those that are not ok, and a summary. */
export function doctorText(results: readonly CheckResult[], options: DoctorTextOptions): string {
  const width = Math.max(...results.map(({id}) => id.length)) + 2;
  const lines = results.flatMap((result) => resultLines(result, width, options));
  return [...lines, summary(results), ''].join('\n');
}

/** Formats the checks that are not ok, with details and remedies. */
export function problemsText(results: readonly CheckResult[], options: DoctorTextOptions): string {
  const problems = results.filter(({result}) => result === 'warning' || result === 'failure');
  const width = Math.max(...problems.map(({id}) => id.length)) + 2;
  return problems.map((result) => `${resultLines(result, width, options).join('\n')}\n`).join('');
}

function resultLines(
  {result, id, message, reason, details, remedy}: CheckResult,
  width: number,
  {chalk, prefix}: DoctorTextOptions,
): readonly string[] {
  const indent = ' '.repeat(RESULT_WIDTH);
  return [
    `${PAINT[result](chalk)(result)}${' '.repeat(RESULT_WIDTH - result.length)}${id.padEnd(width)}${shown(message)}${reason === undefined ? '' : shown(`: ${reason}`)}`,
    ...details.map((detail) => `${indent}${shown(detail)}`),
    ...remedy.map((advice) => `${indent}try: ${shown(adviceText(advice, prefix))}`),
  ];
}

function summary(results: readonly CheckResult[]): string {
  const count = (wanted: Result): number => results.filter(({result}) => result === wanted).length;
  const [warnings, failures] = [counted(count('warning'), 'warning'), counted(count('failure'), 'failure')];
  return `${count('ok')} ok, ${warnings}, ${failures}, ${count('skipped')} skipped`;
}
