import {createReadStream, fstatSync} from 'node:fs';
import {Socket} from 'node:net';
import type {Readable} from 'node:stream';
import type {InputStream} from '../context.js';

const FILE_READ_SIZE = 256 * 1024;

/**
 * Standard input, to be read until the signal is aborted; then nothing more is, and nothing keeps the process alive
 * for it. A file is read in larger pieces than Node.js does by itself.
 */
export function takeInput(stdin: InputStream, until: AbortSignal): Readable {
  if (stdin === process.stdin && fstatSync(0).isFile()) {
    const file = createReadStream('', {fd: 0, autoClose: false, highWaterMark: FILE_READ_SIZE});
    until.addEventListener('abort', () => void file.destroy());
    return file;
  }
  until.addEventListener('abort', () => {
    stdin.unpipe();
    stdin.pause();
    if (stdin instanceof Socket) stdin.unref();
  });
  return stdin;
}

/** A terminal that is typed at. */
type TerminalInput = InputStream & {setRawMode(raw: boolean): unknown};

/** Whether there is a terminal to take. */
export function isTerminal(stdin: InputStream): stdin is TerminalInput {
  return stdin.isTTY === true && 'setRawMode' in stdin;
}

/**
 * Hands every key to whoever reads the terminal, Ctrl-C too, until the signal is aborted. The terminal is also put
 * back when the process ends before that, for whatever reason that still lets it do something.
 */
export function rawMode(terminal: TerminalInput, until: AbortSignal): void {
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
