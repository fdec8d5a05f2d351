import {appendFileSync, closeSync, openSync} from 'node:fs';

/** Opens (creates) a container's log as containerd does: mode 0640, and its directory must be there. Throws ENOENT. */
export function createLogFile(path: string): void {
  closeSync(openSync(path, 'a', 0o640));
}

/**
 * Appends output in the CRI log format: `TIME STREAM TAG TEXT`, tag F for a whole line and P for one without its
 * newline.
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

/** UTC with nine digits, as Go's RFC3339Nano has when the last one isn't zero. */
function rfc3339Nano(nanos: bigint): string {
  const fraction = String(nanos % 1_000_000_000n).padStart(9, '0');
  return `${new Date(Number(nanos / 1_000_000n)).toISOString().slice(0, 19)}.${fraction}Z`;
}
