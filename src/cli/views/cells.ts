import type {PortFact} from '../../operations/verbose-info.js';

/** A cell of a table: `-` for what isn't known or isn't there. */
export function orDash(value: string | number | undefined): string {
  return value === undefined || value === '' ? '-' : String(value);
}

/** The ports that the node forwards to a pod, in one line: `8080->80/TCP, 127.0.0.1:53->53/UDP`. */
export function portsText(ports: readonly PortFact[]): string {
  return ports.map(portText).join(', ');
}

function portText({hostIp, hostPort, containerPort, protocol}: PortFact): string {
  const address = hostIp.includes(':') ? `[${hostIp}]` : hostIp;
  return `${address === '' ? '' : `${address}:`}${hostPort}->${containerPort}/${protocol}`;
}
