import {ConfigError} from '../../base/errors.js';
import type {Connection, Init, PodSandbox, PortMapping} from '../../cri/index.js';
import {fetchSandboxDetails} from '../../operations/inspect/fetch-details.js';
import type {ForwardedPort} from '../../operations/inspect/verbose-info.js';

/**
 * Rejects with ConfigError if a ready pod already publishes one of the ports: the network plugins accept it twice, and the
 * second pod would never receive a connection.
 */
export async function checkHostPorts(
  {runtime}: Pick<Connection, 'runtime'>,
  sandboxes: readonly PodSandbox[],
  ports: readonly Init<PortMapping>[],
  signal: AbortSignal,
): Promise<void> {
  if (ports.length === 0) return;
  const ready = sandboxes.filter(({state}) => state === 'SANDBOX_READY');
  const {byId} = await fetchSandboxDetails(runtime, ready, signal);
  for (const {id, metadata} of ready)
    for (const used of byId.get(id)?.ports ?? []) {
      const port = ports.find((wanted) => isSamePort(wanted, used));
      if (port !== undefined)
        throw new ConfigError(
          `port ${used.hostPort}/${used.protocol.toLowerCase()} of the host is already published by the pod ` +
            `"${metadata?.namespace ?? ''}/${metadata?.name ?? ''}"`,
          {hint: 'publish another port of the host, or remove that pod'},
        );
    }
}

function isSamePort(wanted: Init<PortMapping>, used: ForwardedPort): boolean {
  const {protocol = 'TCP', hostPort, hostIp = ''} = wanted;
  return (
    protocol === used.protocol.toUpperCase() &&
    hostPort === used.hostPort &&
    (isAny(hostIp) || isAny(used.hostIp) || hostIp === used.hostIp)
  );
}

function isAny(address: string): boolean {
  return address === '' || address === '0.0.0.0' || address === '::';
}
