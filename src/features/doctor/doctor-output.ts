import {EXIT} from '../../cli/process/exit-codes.js';
import {adviceText} from '../why/answer.js';
import type {CheckResult} from './check.js';

/** Output formats of `doctor`. */
export const DOCTOR_FORMATS = ['table', 'json', 'yaml'] as const;

/** Exit codes by the worst result. */
export const EXIT_CODES = {ok: EXIT.ok, warning: EXIT.failed, failure: EXIT.nodeFailed} as const;

/** Returns a result as JSON. */
export function resultJson(
  {id, area, title, result, message, reason, details, remedy}: CheckResult,
  prefix: readonly string[],
) {
  return {
    id,
    area,
    title,
    result,
    message,
    ...(reason !== undefined && {reason}),
    details: [...details],
    remedy: remedy.map((advice) => adviceText(advice, prefix)),
  };
}
