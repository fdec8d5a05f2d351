import {KcriError, messageOf} from '../../base/errors.js';
import {explainDiskError} from '../../base/system-error-message.js';
import {EXIT} from '../process/exit-codes.js';
import {maskSecretText} from '../redaction/mask-secrets.js';

/**
 * Returns the error text for users: message and hint, and with `debug` or for a bug the stack. Secrets in debug details
 * are masked.
 */
export function renderError(cause: unknown, debug: boolean): string {
  const error = explainDiskError(cause);
  if (!(error instanceof KcriError)) return bug(error);
  // Protocol messages are for debugging only.
  const lines = [`kcri: ${debug ? maskSecretText(error.message) : error.plainMessage}`];
  if (error.hint !== undefined) lines.push(`hint: ${error.hint}`);
  if (debug) lines.push(...causes(error));
  return lines.join('\n');
}

function bug(error: unknown): string {
  const shown = error instanceof Error ? stackOf(error) : messageOf(error);
  return `kcri: ${shown}\nthis is a bug in kcri; please report it with the lines above`;
}

function* causes(error: Error): Generator<string> {
  for (let next: unknown = error; next instanceof Error; next = next.cause)
    yield maskSecretText(stackOf(next));
}

/** Returns the stack without the message; undefined for a DOMException, whose stack has only frames of Node.js. */
function stackOf(error: Error): string {
  const {name, message, stack = ''} = error;
  return stack.includes(message) ? stack : `${name}: ${message}\n${stack}`.trimEnd();
}

/** Returns the exit code for an error. */
export function exitCodeOf(error: unknown): number {
  return error instanceof KcriError ? error.exitCode : EXIT.failed;
}
