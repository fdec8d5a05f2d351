import type {Pod} from '../../../api/types/v1-pod.js';
import {forEachLimit} from '../../../base/async/for-each-limit.js';
import type {ParsedFiles} from '../../../base/fs/file-cache.js';
import type {PodUid} from '../../../cri/index.js';
import {NO_OBJECTS} from '../../contract/api-objects.js';
import {ActuatedResourcesStore} from '../allocation/actuated-resources-store.js';
import {PodHistories, type LastKnown} from '../history/pod-history.js';
import {SILENT_OBSERVER} from './pod-registry-options.js';
import type {NodeAndRuntime} from './read-node.js';
import {openPodRegistry} from './open-pod-registry.js';
import type {PodRecord} from './pod-store.js';
import {formatMs} from '../status/compute/container-status.js';

/** One of kcri's pods as observed. */
export interface ObservedPod {
  readonly record: PodRecord;
  /** Pod with its status, as an API server would return it. */
  readonly pod: Pod;
  /** Last-known state, as input of the next observation. */
  readonly known: LastKnown;
  /** Facts from which it was computed; absent if the runtime's are unknown. */
  readonly basis?: ObservationBasis;
}

/** Facts that an observation depends on, besides the record. */
interface ObservationBasis {
  /** State of the last sync. */
  readonly stored: LastKnown | undefined;
  /** Objects of the runtime and their states. */
  readonly states: string;
}

/** Options of observePods. */
export interface ObserveOptions {
  /** Last observations. */
  readonly before: ReadonlyMap<PodUid, ObservedPod>;
  /** Returns a text that changes with the objects of the pod in the runtime and their states; undefined if they are unknown. */
  readonly statesOf: (uid: PodUid) => string | undefined;
  /** Reads the stored states. */
  readonly files: ParsedFiles;
  readonly signal: AbortSignal;
}

/** Number of pods observed at once. */
const AT_ONCE = 8;

/**
 * Resolves with the pods as their runtime reports them, with the status that a sync would compute. Changes nothing.
 * Data that the runtime does not store (transition times, reasons of failed starts) comes from `before` or from the
 * last sync, whichever is newer. A pod whose record, stored state and objects in the runtime are the same as before is not
 * read again. Rejects with CriError and SystemError.
 */
export async function observePods(
  node: NodeAndRuntime,
  records: readonly PodRecord[],
  {before, statesOf, files, signal}: ObserveOptions,
): Promise<readonly ObservedPod[]> {
  const histories = new PodHistories(node.node.rootDir, node.clock, files);
  const actuated = new ActuatedResourcesStore(node.node.rootDir, files);
  const lastKnown = await histories.openLastKnown();
  const seen = new Map<PodUid, ObservedPod>();
  await forEachLimit(records, AT_ONCE, async (record) => {
    const {uid} = record;
    const last = before.get(uid);
    const [stored, states] = [await lastKnown(uid), statesOf(uid)];
    const basis = states === undefined ? undefined : {stored, states};
    if (last?.record === record && isSameBasis(last.basis, basis)) {
      seen.set(uid, last);
      return;
    }
    const known = newest(stored, last?.known);
    const pod = await seePod({...node, actuated}, record, known, signal);
    seen.set(uid, {...pod, ...(basis !== undefined && {basis})});
  });
  return records.flatMap(({uid}) => seen.get(uid) ?? []);
}

function isSameBasis(a: ObservationBasis | undefined, b: ObservationBasis | undefined): boolean {
  return a !== undefined && b !== undefined && a.stored === b.stored && a.states === b.states;
}

function newest(a: LastKnown | undefined, b: LastKnown | undefined): LastKnown | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return Date.parse(b.seenAt) > Date.parse(a.seenAt) ? b : a;
}

async function seePod(
  {node, actuated, ...options}: NodeAndRuntime & {readonly actuated: ActuatedResourcesStore},
  record: PodRecord,
  known: LastKnown | undefined,
  signal: AbortSignal,
): Promise<ObservedPod> {
  const hostIps = {current: known?.status.hostIPs?.map(({ip}) => ip) ?? node.hostIps.current};
  const pods = openPodRegistry({...options, node: {...node, hostIps}}, SILENT_OBSERVER, NO_OBJECTS, {
    actuated,
  });
  const syncer = pods.createSyncer(ending(record.pod, known), record.place);
  if (known !== undefined) syncer.restore(known);
  const {status} = await syncer.observe(signal);
  const seenAt = new Date(options.clock.now()).toISOString();
  return seenPod(record, {reasons: {}, ...known, seenAt, status});
}

/**
 * Resolves with the last-known state of the pods, for use when their runtime is unavailable. Rejects with SystemError.
 */
export async function lastKnownPods(
  histories: PodHistories,
  records: readonly PodRecord[],
): Promise<readonly ObservedPod[]> {
  return await Promise.all(
    records.map(async (record) => seenPod(record, (await histories.lastKnown(record.uid)) ?? unseen(record))),
  );
}

function unseen({createdAt}: PodRecord): LastKnown {
  return {seenAt: createdAt, status: {phase: 'Unknown'}, reasons: {}};
}

function seenPod(record: PodRecord, known: LastKnown): ObservedPod {
  const {metadata, ...pod} = ending(record.pod, known);
  const creationTimestamp = formatMs(Date.parse(record.createdAt));
  return {record, known, pod: {...pod, metadata: {...metadata, creationTimestamp}, status: known.status}};
}

function ending(pod: Pod, known: LastKnown | undefined): Pod {
  return known?.deletion === undefined ? pod : {...pod, metadata: {...pod.metadata, ...known.deletion}};
}
