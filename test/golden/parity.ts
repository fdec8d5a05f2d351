/** How kcri stands to a case that was recorded from the kubelet; the tests beside this list hold every one of them. */
export type Parity =
  /**
   * Calls, pod and events are the kubelet's. `settleSeconds` and `why` when the manifest goes at another time, or when
   * dead containers are removed `meanwhile`: at no fixed place among the calls that are made for their successors.
   */
  | {
      readonly kind: 'equal';
      readonly settleSeconds?: number;
      readonly meanwhile?: true;
      /** By chance the next sync, which tells of a back-off, may have been already when the pod was shown. */
      readonly mayBackOff?: true;
      readonly why?: string;
    }
  /** Calls and events are equal; containers are in back-offs that the kubelet's status doesn't show yet. */
  | {readonly kind: 'ahead'; readonly settleSeconds?: number; readonly why: string}
  /** Both refuse the manifest, with the same words. */
  | {readonly kind: 'refused'}
  /** Both refuse the manifest, kcri with better words. */
  | {readonly kind: 'explained'; readonly why: string}
  /** The kubelet refuses a file that kcri has a use for; no pod comes of it. */
  | {readonly kind: 'taken'; readonly why: string}
  /** The kubelet refuses what kcri does: the pod runs. */
  | {readonly kind: 'runs'; readonly why: string}
  /** The kubelet does nothing and says nothing; kcri says why it does nothing, in an event. */
  | {readonly kind: 'told'; readonly event: string; readonly why: string}
  /** Needs what kcri hasn't here. */
  | {readonly kind: 'missing'; readonly why: string};

/** How a case is kept: by `kcri kubelet`, or by `kcri sync` and `kcri delete`. */
export type KeptBy = 'daemon' | 'foreground';

/** How both stand to a case. */
export type CaseParity = Readonly<Record<KeptBy, Parity>>;

const EQUAL: Parity = {kind: 'equal'};

const both = (parity: Parity): CaseParity => ({daemon: parity, foreground: parity});
const inForeground = (foreground: Parity): CaseParity => ({daemon: EQUAL, foreground});

const BACK_OFF =
  'the kubelet shows a back-off only with the sync after the one that found it, as the daemon does; kcri sync with the same one';
const ahead: Parity = {kind: 'ahead', why: BACK_OFF};

const DIFFERENT: Readonly<Record<string, CaseParity>> = {
  'always-exit0': inForeground(ahead),
  'bad-annotation-type': both({
    kind: 'explained',
    why: 'kcri names the annotation, its line, and what to write',
  }),
  'bad-configmap-ref': both({kind: 'refused'}),
  'bad-envfrom': both({kind: 'refused'}),
  'bad-kind': {
    daemon: {
      kind: 'taken',
      why: 'kcri kubelet takes ConfigMaps from the files of its directory, for Pods to refer to',
    },
    foreground: {
      kind: 'explained',
      why: 'kcri sync says that the file holds ConfigMaps and no Pod, the kubelet prints a Go value',
    },
  },
  'bad-missing-volume': both({kind: 'refused'}),
  'bad-noname': both({kind: 'refused'}),
  'bad-podname': {
    daemon: {kind: 'refused'},
    foreground: {
      kind: 'explained',
      why: 'kcri sync names the name as the manifest has it, the kubelet with the node added',
    },
  },
  'create-fail': inForeground(ahead),
  'init-fail-always': inForeground(ahead),
  'kubelet-api': inForeground({kind: 'missing', why: "needs the kubelet's HTTP server"}),
  'kubelet-restart': inForeground(ahead),
  'liveness-exec': {
    daemon: {
      kind: 'equal',
      meanwhile: true,
      why: 'a dead container is removed while its successor is made, as in a kubelet, and often sooner',
    },
    foreground: {
      kind: 'equal',
      settleSeconds: 34,
      why: 'deleted by kcri sync after 34 s, not 40: it starts containers again as soon as they may be',
    },
  },
  'log-rotate': {
    daemon: {
      kind: 'equal',
      settleSeconds: 22.5,
      why: 'deleted after 22.5 s, not 20: logs are looked after every 3 s from the start of the kubelet on',
    },
    foreground: {kind: 'missing', why: 'needs somebody who rotates logs'},
  },
  'restart-rules': {
    daemon: {
      kind: 'equal',
      mayBackOff: true,
      why: 'the last back-off is told or not yet: it depends on when the next sync was, which a kubelet leaves to chance',
    },
    foreground: {
      kind: 'ahead',
      settleSeconds: 30,
      why: `${BACK_OFF}; deleted after 30 s, not 40, since a kubelet waits for up to half of a back-off more, by chance`,
    },
  },
  'runtimeclass-missing': both({
    kind: 'told',
    event: 'Failed to create pod sandbox: runtimeclass.node.k8s.io "nosuch" not found',
    why: 'the kubelet drops the pod without a word, kcri says what it lacks',
  }),
  'vol-projected': both({
    kind: 'runs',
    why: 'the kubelet needs an API server for projected volumes, kcri writes them itself',
  }),
};

/** A case without a difference of its own is equal. */
export function parityOf(name: string, keptBy: KeptBy): Parity {
  return DIFFERENT[name]?.[keptBy] ?? EQUAL;
}

/** The cases that are not plainly equal. */
export const DIFFERENT_CASES: readonly string[] = Object.keys(DIFFERENT);
