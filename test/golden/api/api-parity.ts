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

/** Units in which every case about the node can differ. */
const NODE_UNITS = [
  'events Node <NODE> Normal NodeHasNoDiskPressure',
  'events Node <NODE> Normal NodeHasSufficientMemory',
  'events Node <NODE> Normal NodeHasSufficientPID',
  'events Node <NODE> Warning CgroupV1',
  'node POST /api/v1/nodes status.declaredFeatures',
  'reads GET /api/v1/nodes/<NODE>',
] as const;

const NODE: ApiParity = {
  kind: 'different',
  units: NODE_UNITS,
  why: 'as node-start',
  isBrief: true,
};

/** Returns the parity of a case about the node in which these units agree by chance. */
function nodeWithout(why: string, ...agreeing: readonly (typeof NODE_UNITS)[number][]): ApiParity {
  const units = NODE_UNITS.filter((unit) => !agreeing.includes(unit));
  return {kind: 'different', units, why: `as node-start; ${why}`, isBrief: true};
}

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
  'fault-lease': NODE,
  'fault-node-register': {
    kind: 'different',
    units: [...NODE_UNITS, 'events Node <NODE> Normal NodeReady'],
    why: 'as node-start; the kubelet sends so many events about pressure that its own limit drops NodeReady',
    isBrief: true,
  },
  'fault-node-status': NODE,
  'node-bootstrap': NODE,
  'node-deleted': nodeWithout(
    'the two starts report each condition twice, and the deleted Node is looked for',
    'events Node <NODE> Normal NodeHasNoDiskPressure',
    'events Node <NODE> Normal NodeHasSufficientMemory',
    'events Node <NODE> Normal NodeHasSufficientPID',
    'reads GET /api/v1/nodes/<NODE>',
  ),
  'node-heartbeat': NODE,
  'node-report-30s': NODE,
  'node-restart': nodeWithout(
    'the two starts report each condition twice',
    'events Node <NODE> Normal NodeHasNoDiskPressure',
    'events Node <NODE> Normal NodeHasSufficientMemory',
    'events Node <NODE> Normal NodeHasSufficientPID',
  ),
  'node-serving-csr': NODE,
  'node-start': {
    kind: 'different',
    units: NODE_UNITS,
    why: 'kcri supports cgroup v1 without a warning, reports the conditions once per start, does not resize init containers that are not sidecars, and does not ask for its Node before it registers it',
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
  'static-before-node': nodeWithout(
    'two recordings differed in the requests about the node',
    'node POST /api/v1/nodes status.declaredFeatures',
  ),
};

/** Names of the cases with an entry of their own. */
export const LISTED_API_CASES: readonly string[] = Object.keys(DIFFERENT);

/** Returns how kcri compares with the kubelet in a case. */
export function apiParityOf(name: string): ApiParity {
  return DIFFERENT[name] ?? {kind: 'equal'};
}
