/** Comparison of kcri with the kubelet in a case recorded with an API server. The tests beside this list verify each entry. */
export type ApiParity =
  /** Writes about pods, states of their status and events equal the kubelet's. */
  | {readonly kind: 'equal'; readonly stepMs?: number}
  /** These units of the comparison differ, and no others. */
  | {
      readonly kind: 'different';
      readonly units: readonly string[];
      readonly why: string;
      readonly stepMs?: number;
    }
  /** The case is not played. */
  | {readonly kind: 'not-played'; readonly why: string};

const STREAMS = 'it needs the streams of kubectl, which end-to-end tests use';
const NODE =
  'the recording is about the node; test/kubelet/cluster/node and test/kubelet/cluster/trouble test it';
const CERTIFICATES = 'certificates are tested in test/kubelet/cluster/certificates';
const SETTINGS = 'it needs settings of the kubelet that this player does not have';

const DIFFERENT: Readonly<Record<string, ApiParity>> = {
  'active-deadline': {
    kind: 'different',
    units: ['events Pod p Normal DeadlineExceeded'],
    why: 'kcri reports the deadline once, the kubelet with each sync until the containers have stopped',
  },
  'down-delete': {
    kind: 'different',
    units: ['events Pod p Warning FailedMount', 'pods.p.writes'],
    why: 'kcri mounts no volumes for a pod that is first seen with a deletion timestamp: no second token, no failed mount',
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
  'ephemeral-container': {kind: 'not-played', why: 'test/kubelet/cluster/pods/ephemeral-containers.test.ts'},
  'fault-lease': {kind: 'not-played', why: NODE},
  'fault-node-register': {kind: 'not-played', why: NODE},
  'fault-node-status': {kind: 'not-played', why: NODE},
  'kubectl-attach': {kind: 'not-played', why: STREAMS},
  'kubectl-cp': {kind: 'not-played', why: STREAMS},
  'kubectl-exec': {kind: 'not-played', why: STREAMS},
  'kubectl-logs': {kind: 'not-played', why: STREAMS},
  'kubectl-port-forward': {kind: 'not-played', why: STREAMS},
  'kubectl-run-rm': {kind: 'not-played', why: STREAMS},
  'node-bootstrap': {kind: 'not-played', why: CERTIFICATES},
  'node-deleted': {kind: 'not-played', why: NODE},
  'node-heartbeat': {kind: 'not-played', why: NODE},
  'node-report-30s': {kind: 'not-played', why: NODE},
  'node-restart': {kind: 'not-played', why: NODE},
  'node-serving-csr': {kind: 'not-played', why: CERTIFICATES},
  'node-start': {kind: 'not-played', why: NODE},
  'node-stats': {kind: 'not-played', why: 'the shapes of statistics depend on the machine'},
  'node-unschedulable': {kind: 'not-played', why: NODE},
  'outage-hang': {kind: 'not-played', why: 'the time limits of requests are in real time'},
  'reject-maxpods': {kind: 'not-played', why: SETTINGS},
  'reject-taint': {kind: 'not-played', why: SETTINGS},
  'static-before-node': {kind: 'not-played', why: 'test/kubelet/cluster/pods/mirror-pods.test.ts'},
  'static-mirror': {kind: 'not-played', why: 'test/kubelet/cluster/pods/mirror-pods.test.ts'},
  'taint-noexecute': {kind: 'not-played', why: 'the taint manager of the control plane evicts the pod'},
};

/** Names of the cases with an entry of their own. */
export const LISTED_API_CASES: readonly string[] = Object.keys(DIFFERENT);

/** Returns how kcri compares with the kubelet in a case. */
export function apiParityOf(name: string): ApiParity {
  return DIFFERENT[name] ?? {kind: 'equal'};
}
