/** Comparison of kcri with the kubelet in a case recorded with an API server. The tests beside this list verify each entry. */
export type ApiParity =
  /** Requests, bodies, states, events and CRI calls equal the kubelet's. */
  | {readonly kind: 'equal'; readonly stepMs?: number}
  /** These units of the comparison differ, and no others. */
  | {
      readonly kind: 'different';
      readonly units: readonly string[];
      readonly why: string;
      readonly stepMs?: number;
      /** True if the table does not list the units, because another case has them too. */
      readonly isBrief?: boolean;
    };

/** Unit in which every case about the node differs. */
const NODE_UNIT = 'node POST /api/v1/nodes status.declaredFeatures';

const NODE: ApiParity = {
  kind: 'different',
  units: [NODE_UNIT],
  why: 'as node-start',
  isBrief: true,
};

const DIFFERENT: Readonly<Record<string, ApiParity>> = {
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
  'fault-lease': NODE,
  'fault-node-register': {
    kind: 'different',
    units: [NODE_UNIT, 'events Node <NODE> Normal NodeReady'],
    why: 'as node-start; the kubelet records the conditions with each attempt, and sends so many events about pressure that its own limit drops NodeReady',
    isBrief: true,
  },
  'fault-node-status': NODE,
  'node-bootstrap': NODE,
  'node-deleted': NODE,
  'node-heartbeat': NODE,
  'node-report-30s': NODE,
  'node-restart': NODE,
  'node-serving-csr': NODE,
  'node-start': {
    kind: 'different',
    units: [NODE_UNIT],
    why: 'kcri does not resize init containers that are not sidecars',
  },
  'node-stats': {
    kind: 'different',
    units: [
      'server GET /configz',
      'server GET /pods',
      'server GET /runningpods/',
      'server GET /stats/summary',
    ],
    why: 'the fake API server and runtime have fewer fields; `/configz` shows unset fields too; `/stats/summary` has no `systemContainers` without cgroups, and more of the network and processes of pods; with metrics, codes and reviews equal',
  },
  'node-unschedulable': NODE,
  'reject-taint': {
    kind: 'different',
    units: [
      ...['ContainersReady', 'Initialized', 'PodReadyToStartContainers', 'PodScheduled', 'Ready'].map(
        (type) => `pods.p.tracks.cond ${type}`,
      ),
      ...['hostIP', 'main ready', 'main restarts', 'main started', 'main state', 'observedGeneration'].map(
        (track) => `pods.p.tracks.${track}`,
      ),
    ],
    why: 'a rejected pod that is being deleted keeps the status of its rejection; a kubelet completes it in the last second before the pod goes',
  },
};

/** Names of the cases with an entry of their own. */
export const LISTED_API_CASES: readonly string[] = Object.keys(DIFFERENT);

/** Returns how kcri compares with the kubelet in a case. */
export function apiParityOf(name: string): ApiParity {
  return DIFFERENT[name] ?? {kind: 'equal'};
}
