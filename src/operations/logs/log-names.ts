import type {ContainerStatus} from '../../cri/index.js';
import {podNameOf, podNamespaceOf} from '../pod-labels.js';

/** Ways to name a container, from the shortest to one that no other container has. */
const WAYS: readonly ((status: ContainerStatus) => string)[] = [
  ({metadata}) => metadata?.name ?? '',
  (status) => `${podNameOf(status) ?? '?'}/${status.metadata?.name ?? ''}`,
  (status) => `${podNamespaceOf(status) ?? '?'}/${podNameOf(status) ?? '?'}/${status.metadata?.name ?? ''}`,
  ({id, metadata}) => `${metadata?.name ?? ''}/${id.slice(0, 13)}`,
];

/** Names that tell containers apart, as short as can be, all made in the same way. */
export function distinctNames(statuses: readonly ContainerStatus[]): readonly string[] {
  const named = WAYS.map((way) => statuses.map(way));
  return named.find((names) => new Set(names).size === names.length) ?? statuses.map(({id}) => id);
}

const POD_UID = 'io.kubernetes.pod.uid';

/** Of several attempts of one container the newest; those that a kubelet hasn't made are left as they are. */
export function newestAttempts<T extends {readonly status: ContainerStatus}>(
  logs: readonly T[],
): readonly T[] {
  return logs.filter(({status}) => !logs.some((other) => isLaterAttempt(other.status, status)));
}

function isLaterAttempt(a: ContainerStatus, b: ContainerStatus): boolean {
  return (
    a.labels[POD_UID] !== undefined &&
    a.labels[POD_UID] === b.labels[POD_UID] &&
    a.metadata?.name === b.metadata?.name &&
    (a.metadata?.attempt ?? 0) > (b.metadata?.attempt ?? 0)
  );
}
