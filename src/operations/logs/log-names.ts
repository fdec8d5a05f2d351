import type {ContainerStatus} from '../../cri/index.js';
import {podNameOf, podNamespaceOf} from '../pods/pod-labels.js';

/** Naming schemes for containers, from the shortest to one that is unique. */
const NAMING_SCHEMES: readonly ((status: ContainerStatus) => string)[] = [
  ({metadata}) => metadata?.name ?? '',
  (status) => `${podNameOf(status) ?? '?'}/${status.metadata?.name ?? ''}`,
  (status) => `${podNamespaceOf(status) ?? '?'}/${podNameOf(status) ?? '?'}/${status.metadata?.name ?? ''}`,
  ({id, metadata}) => `${metadata?.name ?? ''}/${id.slice(0, 13)}`,
];

/** Returns the shortest unique names of containers, all in the same scheme. */
export function distinctNames(statuses: readonly ContainerStatus[]): readonly string[] {
  const candidates = NAMING_SCHEMES.map((scheme) => statuses.map(scheme));
  return candidates.find((names) => new Set(names).size === names.length) ?? statuses.map(({id}) => id);
}

const POD_UID = 'io.kubernetes.pod.uid';

/** Returns the newest attempt of each container created by a kubelet; other containers are all returned. */
export function keepNewestLogs<T extends {readonly status: ContainerStatus}>(
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
