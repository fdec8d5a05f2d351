import {createInterface} from 'node:readline/promises';
import {Writable} from 'node:stream';
import {SystemError} from '../../base/errors.js';
import type {CliContext} from '../process/context.js';

/**
 * Prompts for a password on the terminal without echo; reads the first line of a pipe. Rejects with SystemError if the
 * input ends without a password.
 */
export async function promptPassword({stdin, stderr, signal}: CliContext): Promise<string> {
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
