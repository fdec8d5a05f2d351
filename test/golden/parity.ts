/** How kcri stands to a case that was recorded from the kubelet; test/golden/sync.test.ts holds every one of them. */
export type Parity =
  /** Calls, pod and events are the kubelet's. `settleSeconds` and `why` when the manifest goes at another time. */
  | {readonly kind: 'equal'; readonly settleSeconds?: number; readonly why?: string}
  /** Calls and events are equal; containers are in back-offs that the kubelet's status doesn't show yet. */
  | {readonly kind: 'ahead'; readonly settleSeconds?: number; readonly why: string}
  /** Both refuse the manifest, with the same words. */
  | {readonly kind: 'refused'}
  /** Both refuse the manifest, kcri with better words. */
  | {readonly kind: 'explained'; readonly why: string}
  /** The kubelet refuses what kcri does: the pod runs. */
  | {readonly kind: 'runs'; readonly why: string}
  /** The kubelet does nothing and says nothing; kcri says why it does nothing, in an event. */
  | {readonly kind: 'told'; readonly event: string; readonly why: string}
  /** Needs what only a running kubelet does; refused until there is one. */
  | {readonly kind: 'loop'; readonly why: string};

const BACK_OFF =
  'the kubelet shows a back-off only with the sync after the one that found it, kcri with the same one';
const PROBES = 'needs probes';

const DIFFERENT: Readonly<Record<string, Parity>> = {
  'active-deadline': {kind: 'loop', why: 'needs a deadline that somebody watches'},
  'always-exit0': {kind: 'ahead', why: BACK_OFF},
  'bad-annotation-type': {kind: 'explained', why: 'kcri names the annotation, its line, and what to write'},
  'bad-configmap-ref': {kind: 'refused'},
  'bad-envfrom': {kind: 'refused'},
  'bad-kind': {
    kind: 'explained',
    why: 'kcri says that the file holds ConfigMaps and no Pod, the kubelet prints a Go value',
  },
  'bad-missing-volume': {kind: 'refused'},
  'bad-noname': {kind: 'refused'},
  'bad-podname': {
    kind: 'explained',
    why: 'kcri names the name as the manifest has it, the kubelet with the node added',
  },
  'create-fail': {kind: 'ahead', why: BACK_OFF},
  'init-fail-always': {kind: 'ahead', why: BACK_OFF},
  'kubelet-api': {kind: 'loop', why: "needs the kubelet's HTTP server"},
  'kubelet-restart': {kind: 'loop', why: PROBES},
  'liveness-exec': {kind: 'loop', why: PROBES},
  'log-rotate': {kind: 'loop', why: 'needs somebody who rotates logs'},
  'readiness-http': {kind: 'loop', why: PROBES},
  'restart-rules': {
    kind: 'ahead',
    settleSeconds: 30,
    why: `${BACK_OFF}; deleted after 30 s, not 40, since a kubelet waits for up to half of a back-off more, by chance`,
  },
  'runtimeclass-missing': {
    kind: 'told',
    event: 'Failed to create pod sandbox: runtimeclass.node.k8s.io "nosuch" not found',
    why: 'the kubelet drops the pod without a word, kcri says what it lacks',
  },
  sidecar: {kind: 'loop', why: PROBES},
  'startup-probe': {kind: 'loop', why: PROBES},
  'vol-projected': {
    kind: 'runs',
    why: 'the kubelet needs an API server for projected volumes, kcri writes them itself',
  },
};

/** A case without a difference of its own is equal. */
export function parityOf(name: string): Parity {
  return DIFFERENT[name] ?? {kind: 'equal'};
}

/** The cases that are not plainly equal. */
export const DIFFERENT_CASES: readonly string[] = Object.keys(DIFFERENT);
