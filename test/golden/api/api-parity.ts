/** Comparison of kcri with the kubelet in a case recorded with an API server. The tests beside this list verify each entry. */
export type ApiParity =
  /** Requests, bodies, states, events and CRI calls equal the kubelet's. */
  | {readonly kind: 'equal'; readonly stepMs?: number}
  /** These units are a matter of timing. All others equal. */
  | {
      readonly kind: 'racing';
      readonly units: readonly string[];
      readonly why: string;
      readonly stepMs?: number;
    }
  /** These units of the comparison differ, and no others. */
  | {
      readonly kind: 'different';
      readonly units: readonly string[];
      readonly why: string;
      readonly stepMs?: number;
    };

const newLease = (field: string): string =>
  `node POST /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases ${field}`;

const DIFFERENT: Readonly<Record<string, ApiParity>> = {
  'down-delete': {
    kind: 'different',
    units: ['events Pod p Warning FailedMount', 'pods.p.writes'],
    why: 'kcri mounts no volumes for a pod that is first seen with a deletion timestamp: no second token, no failed mount',
  },
  'cpu-static': {
    kind: 'racing',
    units: ['calls.shared'],
    why: 'in the recording, the CPUs of the pool changed before the first reconciliation of a container that had just started',
  },
  'device-health': {
    kind: 'racing',
    units: [
      'node PUT /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/<NODE> holder',
      'node PUT /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/<NODE> spec',
      'node.writes',
    ],
    why: 'the recording took longer, so that the lease was renewed before its end',
  },
  'device-kubelet-restart': {
    kind: 'racing',
    units: ['kept podres.restarted'],
    why: 'when the recorder asked, the restarted kubelet did not know the pods yet',
  },
  'shutdown-no-dbus': {
    kind: 'racing',
    units: [
      ...['apiVersion', 'kind', 'metadata.name', 'metadata.namespace', 'metadata.ownerReferences'].map(
        newLease,
      ),
      ...['spec.holderIdentity', 'spec.leaseDurationSeconds', 'spec.renewTime'].map(newLease),
      'node.writes',
    ],
    why: 'the recording took longer, so that the lease was created before its end, ten seconds after the first attempt',
  },
  'csi-stats': {
    kind: 'different',
    units: ['server GET /stats/summary'],
    why: 'the fake runtime has other statistics than containerd; `/stats/summary` has no `systemContainers` without cgroups; fields of volumes and calls of the driver are equal, which a kubelet repeats without a request',
  },
  'swap-default': {
    kind: 'different',
    units: ['server GET /stats/summary'],
    why: 'the fake runtime has other statistics than containerd; `/stats/summary` has no `systemContainers` without cgroups',
  },
  'readiness-toggle': {
    kind: 'different',
    units: ['events Pod p spec.containers{main} Warning Unhealthy'],
    why: "the kubelet's last probe met a container that had just exited",
  },
  'token-refresh': {
    kind: 'different',
    units: ['pods.p.writes'],
    why: 'kcri requests the tokens of two volumes in the order of the volumes; number and bodies are equal',
    stepMs: 200,
  },
  'fault-node-register': {
    kind: 'different',
    units: ['events Node <NODE> Normal NodeReady'],
    why: 'the kubelet records the conditions with each attempt, and sends so many events about pressure that its own limit drops NodeReady',
  },
  'node-stats': {
    kind: 'different',
    units: [
      'server GET /configz',
      'server GET /pods',
      'server GET /runningpods/',
      'server GET /stats/summary',
    ],
    why: 'the fake API server and runtime have fewer fields; `/configz` shows two defaults that a kubelet does not set; `/stats/summary` has no `systemContainers` without cgroups, and more of the network and processes of pods; with metrics, codes and reviews equal',
  },
};

/** Names of the cases with an entry of their own. */
export const LISTED_API_CASES: readonly string[] = Object.keys(DIFFERENT);

/** Returns how kcri compares with the kubelet in a case. */
export function apiParityOf(name: string): ApiParity {
  return DIFFERENT[name] ?? {kind: 'equal'};
}
