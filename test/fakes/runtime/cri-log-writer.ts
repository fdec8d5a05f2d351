import {appendFileSync, closeSync, openSync} from 'node:fs';

/** Creates a container's log like containerd, with mode 0640. Throws ENOENT if its directory does not exist. */
export function createLogFile(path: string): void {
  closeSync(openSync(path, 'a', 0o640));
}

/**
 * Appends output in the CRI log format: `TIME STREAM TAG TEXT`, with the tag F for a full line and P for a partial
 * one.
 */
export function appendLogLines(
  path: string,
  stream: 'stdout' | 'stderr',
  output: string,
  nanos: bigint,
): void {
  if (output === '') return;
  const time = rfc3339Nano(nanos);
  const lines = output.split('\n');
  const rest = lines.pop() ?? '';
  const whole = lines.map((line) => `${time} ${stream} F ${line}\n`).join('');
  appendFileSync(path, rest === '' ? whole : `${whole}${time} ${stream} P ${rest}\n`);
}

/** Formats a time in UTC with nine digits, like Go's RFC3339Nano if the last digit is not zero. */
function rfc3339Nano(nanos: bigint): string {
  const fraction = String(nanos % 1_000_000_000n).padStart(9, '0');
  return `${new Date(Number(nanos / 1_000_000n)).toISOString().slice(0, 19)}.${fraction}Z`;
}
