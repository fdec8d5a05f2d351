/** Local port and the pod's port to which it is forwarded. */
export interface PortSpec {
  /** Local port; 0 for any free port. */
  readonly local: number;
  readonly remote: number;
}

/** Error of an invalid port spec. */
export type InvalidPortSpec =
  | {readonly kind: 'format'; readonly text: string}
  | {readonly kind: 'syntax' | 'range'; readonly side: 'local' | 'remote'; readonly text: string}
  | {readonly kind: 'no-remote'; readonly text: string};

const MAX_PORT = 65_535;

/**
 * Parses `8080`, `8080:80`, `:80` or `0:80`, by the rules of kubectl and crictl. Returns the error of an invalid port
 * spec.
 */
export function parsePortSpec(text: string): PortSpec | InvalidPortSpec {
  const parts = text.split(':');
  const [first = '', second = first] = parts;
  if (parts.length > 2) return {kind: 'format', text};
  const local = parsePort(parts.length === 2 && first === '' ? '0' : first, 'local');
  if (typeof local !== 'number') return local;
  const remote = parsePort(second, 'remote');
  if (typeof remote !== 'number') return remote;
  return remote === 0 ? {kind: 'no-remote', text} : {local, remote};
}

function parsePort(text: string, side: 'local' | 'remote'): number | InvalidPortSpec {
  if (!/^\d+$/.test(text)) return {kind: 'syntax', side, text};
  const port = Number(text);
  return port > MAX_PORT ? {kind: 'range', side, text} : port;
}

/** Reports whether parsePortSpec returned an error. */
export function isInvalidPortSpec(parsed: PortSpec | InvalidPortSpec): parsed is InvalidPortSpec {
  return 'kind' in parsed;
}
