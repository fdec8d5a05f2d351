import {shellQuote} from '../base/shell-quote.js';

/** Result of the check of a socket on a node; undefined if the node does not say. */
export type SocketState = 'missing' | 'not-a-socket' | 'denied' | 'refused' | 'listening';

const STATES: ReadonlySet<string> = new Set<SocketState>([
  'missing',
  'not-a-socket',
  'denied',
  'refused',
  'listening',
]);

/**
 * Returns a script for `sh` that prints the state of each socket, one per line: sshd does not say why it could not
 * connect to one.
 */
export function checkScript(paths: readonly string[]): string {
  const calls = paths.map((path) => `check ${shellQuote(path)}`);
  return `${CHECK}\n${calls.join('\n')}\n`;
}

/** Returns the states that the script printed, in the order of the paths. */
export function parseStates(output: string): readonly (SocketState | undefined)[] {
  return output
    .trimEnd()
    .split('\n')
    .map((line) => (STATES.has(line) ? (line as SocketState) : undefined));
}

const CHECK = `check() {
  p=$1
  if [ ! -e "$p" ]; then
    d=$p
    while [ ! -e "$d" ]; do d=\${d%/*}; d=\${d:-/}; done
    if [ -d "$d" ] && [ ! -x "$d" ]; then echo denied; else echo missing; fi
  elif [ ! -S "$p" ]; then echo not-a-socket
  elif [ ! -w "$p" ]; then echo denied
  elif [ ! -r /proc/net/unix ]; then echo unknown
  elif grep -qF " $p" /proc/net/unix || grep -qF " $(readlink -f "$p")" /proc/net/unix; then echo listening
  else echo refused
  fi
}`;
