import {isDeepStrictEqual} from 'node:util';
import type {Pod} from '../../api/v1.js';
import type {Clock} from '../../base/clock.js';
import type {PodUid} from '../../cri/index.js';
import {podEvents, type EventSink} from '../container/events.js';
import {formatPod, podRef} from '../container/pod-ref.js';
import type {DesiredPod, PodOperation, PodSourceName, PodUpdate} from '../container/pod-update.js';
import {CONFIG_SEEN_ANNOTATION, CONFIG_SOURCE_ANNOTATION} from './static-pod.js';

/** Annotations of the kubelet's own: they are no difference between two pods (config.go localAnnotations). */
const LOCAL_ANNOTATIONS: readonly string[] = [
  CONFIG_SOURCE_ANNOTATION,
  'kubernetes.io/config.mirror',
  CONFIG_SEEN_ANNOTATION,
];

type Known = ReadonlyMap<PodUid, DesiredPod>;

/** What a new set of pods changes. */
interface PodChanges {
  /** The pods as they are known from now on. */
  readonly known: Known;
  /** By what has become of them. */
  readonly pods: Readonly<Record<PodOperation, readonly DesiredPod[]>>;
}

/**
 * What has become of a source's pods when it has `wanted` where it had `known` (config.go merge, for a SET). A new pod
 * gets the annotations of its source and of when it was first `seen` (RFC 3339); a known one keeps them. The wanted
 * ones must differ in their UIDs.
 */
export function diffPods(
  known: Known,
  wanted: readonly DesiredPod[],
  {source, seen}: {readonly source: PodSourceName; readonly seen: string},
): PodChanges {
  const pods: Record<PodOperation, DesiredPod[]> = {
    ADD: [],
    UPDATE: [],
    REMOVE: [],
    DELETE: [],
    RECONCILE: [],
  };
  const next = new Map<PodUid, DesiredPod>();
  for (const desired of wanted) {
    const existing = known.get(desired.uid);
    const first = existing?.pod.metadata.annotations?.[CONFIG_SEEN_ANNOTATION] ?? seen;
    const own = {[CONFIG_SOURCE_ANNOTATION]: source, [CONFIG_SEEN_ANNOTATION]: first};
    const operation = existing === undefined ? 'ADD' : changeOf(existing.pod, desired.pod);
    const current =
      operation === undefined && existing ? existing : {...desired, pod: annotated(desired.pod, own)};
    next.set(desired.uid, current);
    if (operation !== undefined) pods[operation].push(current);
  }
  for (const [uid, gone] of known) if (!next.has(uid)) pods.REMOVE.push(gone);
  return {known: next, pods};
}

function annotated(pod: Pod, annotations: Readonly<Record<string, string>>): Pod {
  return {
    ...pod,
    metadata: {...pod.metadata, annotations: {...pod.metadata.annotations, ...annotations}},
  };
}

/** config.go checkAndUpdatePod. */
function changeOf(existing: Pod, wanted: Pod): PodOperation | undefined {
  if (!isDeepStrictEqual(essence(existing), essence(wanted)))
    return wanted.metadata.deletionTimestamp === undefined ? 'UPDATE' : 'DELETE';
  return isDeepStrictEqual(existing.status, wanted.status) ? undefined : 'RECONCILE';
}

/** What two versions of a pod may not differ in to be the same (config.go podsDifferSemantically). */
function essence({metadata, spec}: Pod): unknown {
  const {labels = {}, annotations = {}, deletionTimestamp, deletionGracePeriodSeconds} = metadata;
  const foreign = Object.entries(annotations).filter(([key]) => !LOCAL_ANNOTATIONS.includes(key));
  return [spec, labels, Object.fromEntries(foreign), deletionTimestamp, deletionGracePeriodSeconds];
}

/** In this order the updates of one set go out; RECONCILE comes behind the ADD that makes a source ready. */
const ORDER: readonly PodOperation[] = ['REMOVE', 'ADD', 'UPDATE', 'DELETE'];
const MAKES_READY: readonly PodOperation[] = ['ADD', 'UPDATE', 'DELETE'];

/** What the mux needs. */
export interface PodMuxOptions {
  /** All sources that there will be. */
  readonly sources: readonly PodSourceName[];
  readonly clock: Pick<Clock, 'now'>;
  readonly events: EventSink;
  /** Takes the updates, in order; must not throw. */
  readonly deliver: (update: PodUpdate) => void;
}

/** Makes updates of the sets that the sources have (config.go PodConfig). */
export class PodMux {
  readonly #options: PodMuxOptions;
  readonly #known = new Map<PodSourceName, Known>();

  constructor(options: PodMuxOptions) {
    this.#options = options;
  }

  /** Takes all pods that a source has now, each with its identity; must not be called from `deliver`. */
  set(source: PodSourceName, pods: readonly DesiredPod[]): void {
    const {clock, deliver} = this.#options;
    const isFirst = !this.#known.has(source);
    const seen = new Date(clock.now()).toISOString();
    const changes = diffPods(this.#known.get(source) ?? new Map(), this.#withoutDuplicates(source, pods), {
      source,
      seen,
    });
    this.#known.set(source, changes.known);
    const isEmpty = MAKES_READY.every((op) => changes.pods[op].length === 0);
    const send = (op: PodOperation): void => {
      deliver({op, source, pods: changes.pods[op]});
    };
    for (const op of ORDER) if (changes.pods[op].length > 0) send(op);
    if (isFirst && isEmpty) send('ADD');
    if (changes.pods.RECONCILE.length > 0) send('RECONCILE');
  }

  /**
   * True when every source has been set, and its updates were handled as `handled` says: what runs and isn't wanted
   * may be ended only then (config.go SeenAllSources).
   */
  seenAllSources(handled: ReadonlySet<PodSourceName>): boolean {
    return this.#options.sources.every((source) => this.#known.has(source) && handled.has(source));
  }

  /** Of several pods of one name the first counts (config.go filterInvalidPods); so it does of one UID. */
  #withoutDuplicates(source: PodSourceName, pods: readonly DesiredPod[]): readonly DesiredPod[] {
    const names = new Set<string>();
    const uids = new Set<PodUid>();
    return pods.filter(({uid, pod}) => {
      const ref = podRef(pod);
      const fullName = `${ref.name}_${ref.namespace}`;
      const twice = names.has(fullName)
        ? `pod name ${JSON.stringify(ref.name)}`
        : uids.has(uid)
          ? `pod UID ${JSON.stringify(uid)}`
          : undefined;
      names.add(fullName);
      uids.add(uid);
      if (twice === undefined) return true;
      podEvents(this.#options.events, pod).warning(
        'FailedValidation',
        `Error validating pod ${formatPod(ref)} from ${source} due to duplicate ${twice}, ignoring`,
      );
      return false;
    });
  }
}
