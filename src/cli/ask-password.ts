import {createInterface} from 'node:readline/promises';
import {Writable} from 'node:stream';
import {SystemError} from '../base/errors.js';
import type {CliContext} from './context.js';

/**
 * Asks for a password on the terminal without showing it; from a pipe its first line is taken. Throws
 * SystemError when the input ends without one.
 */
export async function askPassword({stdin, stderr, signal}: CliContext): Promise<string> {
  const terminal = stdin.isTTY === true;
  if (terminal) stderr.write('Enter Password:');
  const silent = new Writable({
    write: (_chunk, _encoding, done) => {
      done();
    },
  });
  const lines = createInterface({input: stdin, output: silent, terminal, signal});
  try {
    for await (const line of lines) return line;
  } finally {
    lines.close();
    if (terminal) stderr.write('\n');
  }
  signal.throwIfAborted();
  throw new SystemError('no password was given');
}
