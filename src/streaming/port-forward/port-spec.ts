/** A local port and the pod's port that its connections go to. */
export interface PortSpec {
  /** 0 is any free port. */
  readonly local: number;
  readonly remote: number;
}

/** What is wrong with a word that should name ports. */
export type PortFault =
  | {readonly kind: 'format'; readonly text: string}
  | {readonly kind: 'syntax' | 'range'; readonly side: 'local' | 'remote'; readonly text: string}
  | {readonly kind: 'no-remote'; readonly text: string};

const HIGHEST_PORT = 65_535;

/** The ports in `8080`, `8080:80`, `:80` or `0:80`, by the rules of kubectl and crictl; or what is wrong with it. */
export function parsePortSpec(text: string): PortSpec | PortFault {
  const parts = text.split(':');
  const [first = '', second = first] = parts;
  if (parts.length > 2) return {kind: 'format', text};
  const local = parsePort(parts.length === 2 && first === '' ? '0' : first, 'local');
  if (typeof local !== 'number') return local;
  const remote = parsePort(second, 'remote');
  if (typeof remote !== 'number') return remote;
  return remote === 0 ? {kind: 'no-remote', text} : {local, remote};
}

function parsePort(text: string, side: 'local' | 'remote'): number | PortFault {
  if (!/^\d+$/.test(text)) return {kind: 'syntax', side, text};
  const port = Number(text);
  return port > HIGHEST_PORT ? {kind: 'range', side, text} : port;
}

/** True for what `parsePortSpec` refused. */
export function isPortFault(parsed: PortSpec | PortFault): parsed is PortFault {
  return 'kind' in parsed;
}
