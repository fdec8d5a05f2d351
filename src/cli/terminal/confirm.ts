import {createInterface} from 'node:readline';
import {UsageError} from '../../base/errors.js';
import type {CliContext} from '../process/context.js';

/** Values of the flags of commands that ask before they remove anything. */
export interface ConfirmationFlags {
  readonly yes: boolean;
  readonly 'dry-run': boolean;
}

/** Throws UsageError if nobody can confirm: without --yes, a terminal is required. */
export function checkConfirmable({stdin}: CliContext, flags: ConfirmationFlags): void {
  if (flags.yes || flags['dry-run'] || stdin.isTTY === true) return;
  throw new UsageError('cannot ask for confirmation: standard input is not a terminal', {
    hint: 'use --yes to remove without a question, or --dry-run to see what would be removed',
  });
}

/** Asks on the terminal and resolves with whether the answer is yes; the end of the input is a no. */
export async function confirm({stdin, stderr, signal}: CliContext, question: string): Promise<boolean> {
  stderr.write(`${question} [y/N] `);
  const lines = createInterface({input: stdin, signal});
  try {
    for await (const line of lines) return /^y(es)?$/i.test(line.trim());
  } finally {
    lines.close();
  }
  signal.throwIfAborted();
  stderr.write('\n');
  return false;
}
