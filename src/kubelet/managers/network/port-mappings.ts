import {isIPv6} from 'node:net';
import type {Container, ContainerPort, Pod} from '../../../api/types/v1-pod.js';
import type {Init, PortMapping} from '../../../cri/index.js';

/**
 * Returns the port mappings of a pod's containers, including ports without a host port
 * (kubecontainer.MakePortMappings). Duplicate ports of a container are omitted.
 */
export function makePortMappings(pod: Pod): readonly Init<PortMapping>[] {
  return pod.spec.containers.flatMap(containerPorts).map(({protocol, containerPort, hostPort, hostIP}) => ({
    protocol: protocol ?? 'TCP',
    containerPort,
    hostPort: hostPort ?? 0,
    hostIp: hostIP ?? '',
  }));
}

function containerPorts({ports = []}: Container): readonly ContainerPort[] {
  const byName = new Map<string, ContainerPort>();
  for (const port of ports) {
    const name = portName(port);
    if (!byName.has(name)) byName.set(name, port);
  }
  return [...byName.values()];
}

function portName({
  name = '',
  protocol = 'TCP',
  containerPort,
  hostPort = 0,
  hostIP = '',
}: ContainerPort): string {
  if (name !== '') return name;
  const family = hostIP === '' ? 'any' : isIPv6(hostIP) ? 'v6' : 'v4';
  return `${family}-${protocol}-${hostIP}:${containerPort}:${hostPort}`;
}
