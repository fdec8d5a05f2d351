import {fstatSync} from 'node:fs';
import {Socket} from 'node:net';
import type {InputStream} from '../context.js';

/** Whether standard input is a file's content. */
export function isFile(stdin: InputStream): boolean {
  return stdin === process.stdin && fstatSync(0).isFile();
}

/** Reads no more of standard input once the signal is aborted, and lets nothing keep the process alive for it. */
export function readUntil(stdin: InputStream, until: AbortSignal): void {
  until.addEventListener('abort', () => {
    stdin.unpipe();
    stdin.pause();
    if (stdin instanceof Socket) stdin.unref();
  });
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
