import type {Pod} from '../../api/v1.js';
import {concurrently} from '../../base/concurrently.js';
import type {PodUid} from '../../cri/index.js';
import {PodHistories, type LastKnown} from '../events/pod-history.js';
import {SILENT_OBSERVER} from '../local-pods-options.js';
import {openLocalPods, type DescribedNode} from '../open-local-pods.js';
import type {PodRecord} from '../pod/pod-store.js';
import {timeOfMs} from './container-status.js';

/** One of kcri's pods, as it was seen. */
export interface SeenPod {
  readonly record: PodRecord;
  /** The Pod with its status, as an API server would show it. */
  readonly pod: Pod;
  /** What it is seen by next time. */
  readonly known: LastKnown;
}

/** How many pods are asked for at once. */
const AT_ONCE = 8;

/**
 * The pods as their runtime has them now, with the status that a sync would find: nothing is changed. What the
 * runtime doesn't keep (since when, why a container could not be started) is taken from what was known before, by
 * `before` or by the last sync, whatever is newer. Rejects with CriError and SystemError.
 */
export async function seePods(
  node: DescribedNode,
  records: readonly PodRecord[],
  before: ReadonlyMap<PodUid, LastKnown>,
  signal: AbortSignal,
): Promise<readonly SeenPod[]> {
  const histories = new PodHistories(node.node.rootDir, node.clock);
  const seen = new Map<PodUid, SeenPod>();
  await concurrently(records, AT_ONCE, async (record) => {
    const known = newest(await histories.lastKnown(record.uid), before.get(record.uid));
    seen.set(record.uid, await seePod(node, record, known, signal));
  });
  return records.flatMap(({uid}) => seen.get(uid) ?? []);
}

function newest(a: LastKnown | undefined, b: LastKnown | undefined): LastKnown | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return Date.parse(b.seenAt) > Date.parse(a.seenAt) ? b : a;
}

async function seePod(
  {node, ...options}: DescribedNode,
  record: PodRecord,
  known: LastKnown | undefined,
  signal: AbortSignal,
): Promise<SeenPod> {
  const nodeIps = known?.status.hostIPs?.map(({ip}) => ip) ?? node.nodeIps;
  const pods = openLocalPods({...options, node: {...node, nodeIps}}, SILENT_OBSERVER);
  const syncer = pods.syncer(ending(record.pod, known), record.place);
  if (known !== undefined) syncer.recall(known);
  const {status} = await syncer.observe(signal);
  const seenAt = new Date(options.clock.now()).toISOString();
  return seenPod(record, {reasons: {}, ...known, seenAt, status});
}

/** The pods as they were seen last, for when their runtime can't be asked. Rejects with SystemError. */
export async function recallPods(
  histories: PodHistories,
  records: readonly PodRecord[],
): Promise<readonly SeenPod[]> {
  return await Promise.all(
    records.map(async (record) => seenPod(record, (await histories.lastKnown(record.uid)) ?? unseen(record))),
  );
}

function unseen({createdAt}: PodRecord): LastKnown {
  return {seenAt: createdAt, status: {phase: 'Unknown'}, reasons: {}};
}

function seenPod(record: PodRecord, known: LastKnown): SeenPod {
  const {metadata, ...pod} = ending(record.pod, known);
  const creationTimestamp = timeOfMs(Date.parse(record.createdAt));
  return {record, known, pod: {...pod, metadata: {...metadata, creationTimestamp}, status: known.status}};
}

function ending(pod: Pod, known: LastKnown | undefined): Pod {
  return known?.deletion === undefined ? pod : {...pod, metadata: {...pod.metadata, ...known.deletion}};
}
