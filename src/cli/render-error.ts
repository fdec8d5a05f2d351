import {KcriError, messageOf} from '../base/errors.js';
import {EXIT} from './exit-codes.js';
import {maskedText} from './instruments/secrets.js';

/**
 * The lines that tell a person what went wrong: message, hint; with `debug` or for a bug the stack as well. What
 * `debug` adds has its secrets masked.
 */
export function renderError(error: unknown, debug: boolean): string {
  if (!(error instanceof KcriError)) return bug(error);
  // The protocol's own words are for who looks for a fault.
  const lines = [`kcri: ${debug ? maskedText(error.message) : error.plainMessage}`];
  if (error.hint !== undefined) lines.push(`hint: ${error.hint}`);
  if (debug) lines.push(...causes(error));
  return lines.join('\n');
}

function bug(error: unknown): string {
  const shown = error instanceof Error ? stackOf(error) : messageOf(error);
  return `kcri: ${shown}\nthis is a bug in kcri; please report it with the lines above`;
}

function* causes(error: Error): Generator<string> {
  for (let next: unknown = error; next instanceof Error; next = next.cause) yield maskedText(stackOf(next));
}

/** The stack below what went wrong; that of a DOMException has only Node.js there. */
function stackOf(error: Error): string {
  const {name, message, stack = ''} = error;
  return stack.includes(message) ? stack : `${name}: ${message}\n${stack}`.trimEnd();
}

/** The exit code that an error ends the process with. */
export function exitCodeOf(error: unknown): number {
  return error instanceof KcriError ? error.exitCode : EXIT.failed;
}
