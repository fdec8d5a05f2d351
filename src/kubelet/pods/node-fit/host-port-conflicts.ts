import type {ContainerPort, Pod} from '../../../api/types/v1-pod.js';

/** Reports whether another pod uses a host port that the pod requests (nodeports Fits). */
export function hasHostPortConflict(pod: Pod, others: readonly Pod[]): boolean {
  const wanted = hostPorts(pod);
  if (wanted.length === 0) return false;
  const taken = others.flatMap(hostPorts);
  return wanted.some((port) => taken.some((other) => conflict(port, other)));
}

/** Returns the host ports of the pod's containers and sidecars. */
function hostPorts({spec}: Pod): readonly ContainerPort[] {
  const sidecars = spec.initContainers?.filter(({restartPolicy}) => restartPolicy === 'Always') ?? [];
  return [...spec.containers, ...sidecars]
    .flatMap(({ports = []}) => ports)
    .filter(({hostPort = 0}) => hostPort > 0);
}

const ANY_IP = '0.0.0.0';

/** Returns the host IP of a port; an empty or missing one means any. */
function address({hostIP = ''}: ContainerPort): string {
  return hostIP === '' ? ANY_IP : hostIP;
}

function conflict(a: ContainerPort, b: ContainerPort): boolean {
  const [first, second] = [address(a), address(b)];
  const sameAddress = first === second || first === ANY_IP || second === ANY_IP;
  return sameAddress && a.hostPort === b.hostPort && (a.protocol ?? 'TCP') === (b.protocol ?? 'TCP');
}
