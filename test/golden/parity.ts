/** Comparison of kcri with the kubelet in a recorded case. The tests beside this list verify each entry. */
export type Parity =
  /**
   * Calls, pod and events equal the kubelet's. `settleSeconds` if the manifest is deleted at another time;
   * `meanwhile` if dead containers are removed at no fixed place among the calls for their successors.
   */
  | {
      readonly kind: 'equal';
      readonly settleSeconds?: number;
      readonly meanwhile?: true;
      /** The sync that reports a back-off may have happened before the pod was read. */
      readonly mayBackOff?: true;
      readonly why?: string;
    }
  /** Both reject the manifest, in the same words. */
  | {readonly kind: 'rejected'}
  /** Both reject the manifest, kcri with a better message. */
  | {readonly kind: 'explained'; readonly why: string}
  /** The kubelet rejects a file that kcri accepts; it yields no pod. */
  | {readonly kind: 'accepted'; readonly why: string}
  /** The kubelet rejects what kcri supports: the pod runs. */
  | {readonly kind: 'runs'; readonly why: string}
  /** The kubelet does nothing and reports nothing; kcri reports the reason as an event. */
  | {readonly kind: 'reported'; readonly event: string; readonly why: string}
  /** Needs a feature that this driver does not have. */
  | {readonly kind: 'missing'; readonly why: string};

/** The driver of a case: `kcri kubelet`, or `kcri sync` and `kcri delete`. */
export type DriverName = 'daemon' | 'foreground';

/** Comparison of both drivers with the kubelet in a case. */
export type CaseParity = Readonly<Record<DriverName, Parity>>;

const EQUAL: Parity = {kind: 'equal'};

const both = (parity: Parity): CaseParity => ({daemon: parity, foreground: parity});

const DIFFERENT: Readonly<Record<string, CaseParity>> = {
  'bad-annotation-type': both({
    kind: 'explained',
    why: 'kcri names the annotation, its line, and the correct type',
  }),
  'bad-configmap-ref': both({kind: 'rejected'}),
  'bad-envfrom': both({kind: 'rejected'}),
  'bad-kind': {
    daemon: {
      kind: 'accepted',
      why: 'kcri kubelet reads ConfigMaps from the files of its directory, for Pods to refer to',
    },
    foreground: {
      kind: 'explained',
      why: 'kcri sync reports that the file has ConfigMaps and no Pod, the kubelet prints a Go value',
    },
  },
  'bad-missing-volume': both({kind: 'rejected'}),
  'bad-noname': both({kind: 'rejected'}),
  'bad-podname': {
    daemon: {kind: 'rejected'},
    foreground: {
      kind: 'explained',
      why: 'kcri sync prints the name as the manifest has it, the kubelet with the node appended',
    },
  },
  'kubelet-api': {
    daemon: EQUAL,
    foreground: {kind: 'missing', why: 'kcri sync has no kubelet HTTP server'},
  },
  'liveness-exec': both({
    kind: 'equal',
    meanwhile: true,
    why: 'a dead container is removed while its successor is created, as in a kubelet, and often sooner',
  }),
  'log-rotate': {
    daemon: {
      kind: 'equal',
      settleSeconds: 22.5,
      why: 'deleted after 22.5 s, not 20: logs are checked every 3 s from the start of the kubelet',
    },
    foreground: {kind: 'missing', why: 'kcri sync does not rotate logs'},
  },
  'restart-rules': both({
    kind: 'equal',
    mayBackOff: true,
    why: 'the last back-off may or may not be reported: it depends on the jitter of the next sync, in a kubelet too',
  }),
  'runtimeclass-missing': both({
    kind: 'reported',
    event: 'Failed to create pod sandbox: runtimeclass.node.k8s.io "nosuch" not found',
    why: 'the kubelet drops the pod silently, kcri reports the reason',
  }),
  'vol-projected': both({
    kind: 'runs',
    why: 'the kubelet needs an API server for projected volumes, kcri writes them itself',
  }),
};

/** Returns how a driver compares with the kubelet in a case; a case that is not listed is equal. */
export function parityOf(name: string, driver: DriverName): Parity {
  return DIFFERENT[name]?.[driver] ?? EQUAL;
}

/** The cases that are not plainly equal. */
export const DIFFERENT_CASES: readonly string[] = Object.keys(DIFFERENT);
