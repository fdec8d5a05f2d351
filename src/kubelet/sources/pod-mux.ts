import {isDeepStrictEqual} from 'node:util';
import type {Pod} from '../../api/types/v1-pod.js';
import type {Clock} from '../../base/clock.js';
import type {PodUid} from '../../cri/index.js';
import {createPodEventRecorder, type EventSink} from '../contract/pod-event.js';
import {formatPod, podRef} from '../contract/pod-ref.js';
import type {DesiredPod, PodOperation, PodSourceName, PodUpdate} from '../contract/pod-update.js';
import {CONFIG_MIRROR_ANNOTATION, CONFIG_SEEN_ANNOTATION, CONFIG_SOURCE_ANNOTATION} from './static-pod.js';

/** Annotations that the kubelet sets; they do not count as a change of the pod (config.go localAnnotations). */
const LOCAL_ANNOTATIONS: readonly string[] = [
  CONFIG_SOURCE_ANNOTATION,
  CONFIG_MIRROR_ANNOTATION,
  CONFIG_SEEN_ANNOTATION,
];

type PodsByUid = ReadonlyMap<PodUid, DesiredPod>;

/** Changes of a new set of pods. */
interface PodChanges {
  /** Pods of the source after the changes. */
  readonly known: PodsByUid;
  /** Changed pods by operation. */
  readonly pods: Readonly<Record<PodOperation, readonly DesiredPod[]>>;
}

/**
 * Compares the desired pods of a source with its known ones (config.go merge, for a SET). A new pod gets the
 * annotations for its source and for the time at which it was first seen (`seen`, RFC 3339); a known pod retains them.
 * The UIDs of the desired pods must be unique.
 */
export function diffPods(
  known: PodsByUid,
  desired: readonly DesiredPod[],
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
  for (const candidate of desired) {
    const existing = known.get(candidate.uid);
    const firstSeen = existing?.pod.metadata.annotations?.[CONFIG_SEEN_ANNOTATION] ?? seen;
    const annotations = {[CONFIG_SOURCE_ANNOTATION]: source, [CONFIG_SEEN_ANNOTATION]: firstSeen};
    const operation = existing === undefined ? 'ADD' : compareVersions(existing.pod, candidate.pod);
    const current =
      operation === undefined && existing
        ? existing
        : {...candidate, pod: withAnnotations(candidate.pod, annotations)};
    next.set(candidate.uid, current);
    if (operation !== undefined) pods[operation].push(current);
  }
  for (const [uid, removed] of known) if (!next.has(uid)) pods.REMOVE.push(removed);
  return {known: next, pods};
}

function withAnnotations(pod: Pod, annotations: Readonly<Record<string, string>>): Pod {
  return {
    ...pod,
    metadata: {...pod.metadata, annotations: {...pod.metadata.annotations, ...annotations}},
  };
}

/** Returns the operation for a new version of a pod; undefined if it did not change (config.go checkAndUpdatePod). */
function compareVersions(existing: Pod, desired: Pod): PodOperation | undefined {
  if (!isDeepStrictEqual(semanticFields(existing), semanticFields(desired)))
    return desired.metadata.deletionTimestamp === undefined ? 'UPDATE' : 'DELETE';
  return isDeepStrictEqual(existing.status, desired.status) ? undefined : 'RECONCILE';
}

/** Returns the fields in which versions of a pod differ semantically (config.go podsDifferSemantically). */
function semanticFields({metadata, spec}: Pod): unknown {
  const {labels = {}, annotations = {}, deletionTimestamp, deletionGracePeriodSeconds} = metadata;
  const compared = Object.entries(annotations).filter(([key]) => !LOCAL_ANNOTATIONS.includes(key));
  return [spec, labels, Object.fromEntries(compared), deletionTimestamp, deletionGracePeriodSeconds];
}

/** Order of the updates of a set; RECONCILE follows the ADD that makes a source ready. */
const ORDER: readonly PodOperation[] = ['REMOVE', 'ADD', 'UPDATE', 'DELETE'];
const MAKES_READY: readonly PodOperation[] = ['ADD', 'UPDATE', 'DELETE'];

/** Options of {@link PodMux}. */
export interface PodMuxOptions {
  /** Names of all configured sources. */
  readonly sources: readonly PodSourceName[];
  readonly clock: Pick<Clock, 'now'>;
  readonly events: EventSink;
  /** Receives the updates in order; must not throw. */
  readonly deliver: (update: PodUpdate) => void;
}

/** Converts the sets of the sources to updates (config.go PodConfig). */
export class PodMux {
  readonly #options: PodMuxOptions;
  readonly #known = new Map<PodSourceName, PodsByUid>();

  constructor(options: PodMuxOptions) {
    this.#options = options;
  }

  /** Sets all pods of a source and delivers the changes. Must not be called from `deliver`. */
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
   * Reports whether every source has been set and is among `handled`, the sources whose updates were handled. Only then
   * may pods that are not desired be terminated (config.go SeenAllSources).
   */
  seenAllSources(handled: ReadonlySet<PodSourceName>): boolean {
    return this.#options.sources.every((source) => this.#known.has(source) && handled.has(source));
  }

  /** Drops all but the first of several pods with the same name or UID (config.go filterInvalidPods). */
  #withoutDuplicates(source: PodSourceName, pods: readonly DesiredPod[]): readonly DesiredPod[] {
    const names = new Set<string>();
    const uids = new Set<PodUid>();
    return pods.filter(({uid, pod}) => {
      const ref = podRef(pod);
      const fullName = `${ref.name}_${ref.namespace}`;
      const duplicate = names.has(fullName)
        ? `pod name ${JSON.stringify(ref.name)}`
        : uids.has(uid)
          ? `pod UID ${JSON.stringify(uid)}`
          : undefined;
      names.add(fullName);
      uids.add(uid);
      if (duplicate === undefined) return true;
      createPodEventRecorder(this.#options.events, pod).warning(
        'FailedValidation',
        `Error validating pod ${formatPod(ref)} from ${source} due to duplicate ${duplicate}, ignoring`,
      );
      return false;
    });
  }
}
