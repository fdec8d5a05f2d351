import {fstatSync} from 'node:fs';
import {Socket} from 'node:net';
import type {InputStream} from '../context.js';

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

/** Standard input that is a terminal. */
type TerminalInput = InputStream & {setRawMode(raw: boolean): unknown};

/** Reports whether standard input is a terminal. */
export function isTerminalInput(stdin: InputStream): stdin is TerminalInput {
  return stdin.isTTY === true && 'setRawMode' in stdin;
}

/**
 * Switches the terminal to raw mode, in which every key is passed on, including Ctrl-C, until the signal is aborted.
 * Also restores the terminal if the process exits or receives SIGHUP before.
 */
export function enterRawMode(terminal: TerminalInput, until: AbortSignal): void {
  let raw = true;
  const restore = (): void => {
    if (raw) terminal.setRawMode(false);
    raw = false;
    process.removeListener('exit', restore);
    process.removeListener('SIGHUP', hangUp);
  };
  const hangUp = (): void => {
    restore();
    process.kill(process.pid, 'SIGHUP');
  };
  terminal.setRawMode(true);
  process.once('exit', restore);
  process.once('SIGHUP', hangUp);
  until.addEventListener('abort', restore);
}
