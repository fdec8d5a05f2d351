import {isIPv6} from 'node:net';
import type {Container, ContainerPort, Pod} from '../../api/v1.js';
import type {Init, PortMapping} from '../../cri/index.js';

/**
 * The ports of the pod's containers, those without a host port too, since runtimes and their network plugins may
 * want to know (kubecontainer.MakePortMappings). A port that repeats an earlier one of its container is left out.
 */
export function portMappings(pod: Pod): readonly Init<PortMapping>[] {
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
