import {fstatSync} from 'node:fs';
import {Socket} from 'node:net';
import type {InputStream} from '../process/context.js';

/** Reports whether standard input is a regular file. */
export function isFileInput(stdin: InputStream): boolean {
  return stdin === process.stdin && fstatSync(0).isFile();
}

/** Stops reading standard input once the signal is aborted, so that it does not hold the process open. */
export function stopReadingOnAbort(stdin: InputStream, until: AbortSignal): void {
  until.addEventListener('abort', () => {
    stdin.unpipe();
    stdin.pause();
    if (stdin instanceof Socket) stdin.unref();
  });
}

/** Standard input that is a terminal. `fd` is missing if it is not the terminal of a system. */
export type TerminalInput = InputStream & {
  setRawMode(raw: boolean): unknown;
  readonly fd?: number | undefined;
};

/** Reports whether standard input is a terminal. */
export function isTerminalInput(stdin: InputStream): stdin is TerminalInput {
  return stdin.isTTY === true && 'setRawMode' in stdin;
}
