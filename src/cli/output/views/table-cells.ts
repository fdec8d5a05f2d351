import type {ForwardedPort} from '../../../operations/inspect/verbose-info.js';

/** Returns the text of a cell; `-` if unknown. */
export function formatOrDash(value: string | number | undefined): string {
  return value === undefined || value === '' ? '-' : String(value);
}

/** Formats host ports of a pod: `8080->80/TCP, 127.0.0.1:53->53/UDP`. */
export function portsText(ports: readonly ForwardedPort[]): string {
  return ports.map(portText).join(', ');
}

function portText({hostIp, hostPort, containerPort, protocol}: ForwardedPort): string {
  const address = hostIp.includes(':') ? `[${hostIp}]` : hostIp;
  return `${address === '' ? '' : `${address}:`}${hostPort}->${containerPort}/${protocol}`;
}
