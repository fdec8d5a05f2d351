import {compare} from '../../../base/compare.js';
import {podUid, type Container, type PodSandbox, type PodUid} from '../../../cri/index.js';
import {POD_UID_LABEL} from '../../managers/kuberuntime/config/labels.js';

/** Pod of a runtime, whichever program created it. */
export interface RuntimePod {
  readonly uid: PodUid;
  readonly namespace: string;
  readonly name: string;
  /** Labels and annotations of the newest sandbox. */
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** `kubelet` if the pod has the labels of a kubelet; `none` for a sandbox of crictl or another CRI client. */
  readonly manager: 'kubelet' | 'none';
  /** All sandboxes, newest first; at least one. */
  readonly sandboxes: readonly [PodSandbox, ...PodSandbox[]];
  /** All containers of all sandboxes, newest first. */
  readonly containers: readonly Container[];
}

/** Groups sandboxes and their containers by pod: namespace, name and UID of the sandbox. */
export function groupRuntimePods(
  sandboxes: readonly PodSandbox[],
  containers: readonly Container[],
): readonly RuntimePod[] {
  const containersBySandbox = groupBy(containers, ({podSandboxId}) => podSandboxId);
  return [...groupBy(sandboxes.toSorted(bySandboxAge), keyOf).values()].map((group) => {
    const [newest] = group;
    const {namespace = '', name = '', uid = ''} = newest.metadata ?? {};
    return {
      uid: podUid(uid === '' ? newest.id : uid),
      namespace,
      name,
      labels: newest.labels,
      annotations: newest.annotations,
      manager: newest.labels[POD_UID_LABEL] === undefined ? 'none' : 'kubelet',
      sandboxes: group,
      containers: group
        .flatMap(({id}) => containersBySandbox.get(id) ?? [])
        .toSorted((a, b) => compare(b.createdAt, a.createdAt)),
    };
  });
}

/** Returns the key of a sandbox's pod; a sandbox without a UID is a pod of its own. */
function keyOf({id, metadata}: PodSandbox): string {
  const {namespace = '', name = '', uid = ''} = metadata ?? {};
  return [namespace, name, uid === '' ? id : uid].join('/');
}

function bySandboxAge(a: PodSandbox, b: PodSandbox): number {
  return (
    compare(b.metadata?.attempt ?? 0, a.metadata?.attempt ?? 0) ||
    compare(b.createdAt, a.createdAt) ||
    compare(a.id, b.id)
  );
}

function groupBy<T>(items: readonly T[], key: (item: T) => string): ReadonlyMap<string, [T, ...T[]]> {
  const groups = new Map<string, [T, ...T[]]>();
  for (const item of items) {
    const group = groups.get(key(item));
    if (group === undefined) groups.set(key(item), [item]);
    else group.push(item);
  }
  return groups;
}
