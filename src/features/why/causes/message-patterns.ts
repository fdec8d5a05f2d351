import {shorten} from '../../../base/shorten.js';
import type {Advice, Finding} from '../finding.js';

/** Cause that a message of a runtime, a registry or a kubelet names. `T` is the subject of the message. */
export interface MessagePattern<T> {
  readonly rule: string;
  readonly pattern: RegExp;
  readonly cause: (match: readonly string[], subject: T) => string;
  readonly tries: (match: readonly string[], subject: T) => readonly Advice[];
  /** Facts that the cause is inferred from, if the message does not say it. */
  readonly inferredFrom?: string;
}

/** Length of a message that is quoted in an answer. */
const MAX_QUOTED = 300;

/** Returns the cause of a message: that of the first pattern that matches. */
export function explainMessage<T>(
  patterns: readonly MessagePattern<T>[],
  message: string,
  subject: T,
): Pick<Finding, 'rule' | 'cause' | 'tries' | 'inferredFrom'> | undefined {
  for (const {rule, pattern, cause, tries, inferredFrom} of patterns) {
    const match = pattern.exec(message);
    if (match === null) continue;
    const groups = Array.from(match, (group: string | undefined) => group ?? '');
    return {
      rule,
      cause: cause(groups, subject),
      tries: tries(groups, subject),
      ...(inferredFrom !== undefined && {inferredFrom}),
    };
  }
  return undefined;
}

/** Quotes a message as evidence, shortened. */
export function quoteMessage(message: string): string {
  return `"${shorten(message.trim(), MAX_QUOTED)}"`;
}
