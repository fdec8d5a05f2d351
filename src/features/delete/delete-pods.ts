import type {ApiObject} from '../../api/types/v1-objects.js';
import {forEachLimit} from '../../base/async/for-each-limit.js';
import {inOrder} from '../../base/async/in-order.js';
import {SystemError, type KcriError} from '../../base/errors.js';
import {canonicalEndpoint} from '../../cri/endpoint.js';
import type {PodRecord, PodRegistry, RejectedPodStore} from '../../kubelet/index.js';
import type {
  ConnectionContext,
  EnvironmentContext,
  OutputContext,
  ReportContext,
  RuntimeContext,
  SettingsContext,
  SignalContext,
} from '../../cli/command/contexts.js';
import {deleteRunPod, listRunPods, type RunPod} from '../run/run-pods.js';
import {createPodLeftError, isOwnershipError} from '../sync/pod-outcome.js';
import {formatPodTitle} from '../pods/pod-title.js';
import {parseLabelSelector} from '../pods/label-selector.js';
import {selectPodRecords, type RecordWords} from '../targets/select-pod-records.js';
import type {ListedPod} from '../pods/listed-pod.js';
import {readCommandNode} from '../manifests/read-command-node.js';

/** Pods that `delete` deletes: the named ones, or all that match a selector. */
export interface DeletionRequest extends RecordWords {
  /** Label selector; undefined if pods are named, empty for all pods. */
  readonly selector: string | undefined;
}

/** Options of deletePods. */
export interface DeletePodsOptions {
  /** Grace period in seconds; by default the pod's. */
  readonly gracePeriodSeconds: number | undefined;
  /** Namespace of the pods, and of Pods in manifests without one. */
  readonly namespace: string | undefined;
  /** True to remove the directories of the claims that only the deleted pods use. */
  readonly volumes: boolean;
}

/** Maximum number of pods that are deleted at once. */
const MAX_CONCURRENT = 16;

/**
 * Deletes pods. Reports those that do not exist or cannot be deleted, and continues with the others, and an interruption
 * with the pods whose deletion it ended. Returns the objects of the manifests that name the pods.
 */
export async function deletePods(
  services: RuntimeContext & OutputContext,
  request: DeletionRequest,
  {gracePeriodSeconds, namespace, volumes}: DeletePodsOptions,
): Promise<readonly ApiObject[]> {
  const {report, signal} = services;
  const records = await readRecords(services, request.words);
  const {RejectedPodStore: Store} = await import('../../kubelet/index.js');
  const store = new Store(services.settings.rootDir);
  const rejected: ReadonlySet<PodRecord> = new Set(await store.list());
  const {selected, runPods, missing, objects} = await select(services, [...records, ...rejected], {
    request,
    namespace,
  });
  for (const error of missing) report.fail(error);
  for (const record of selected) if (rejected.has(record)) await deleteRejected(services, store, record);
  const found = selected.filter((record) => !rejected.has(record));
  let existing: readonly PodRecord[] = found;
  if (volumes) {
    const {withoutMissingSecrets} = await import('./missing-secret.js');
    existing = await withoutMissingSecrets(services, found, {records, objects});
  }
  const deleted = new Set<PodRecord>();
  const left: PodRecord[] = [];
  let registry: PodRegistry | undefined;
  for (const [endpoint, group] of await groupByEndpoint(services, existing)) {
    const pods = await openOrReport(services, endpoint, objects);
    if (pods === undefined) continue;
    registry = pods;
    await deleteAtOnce(services, group, async (record) => {
      const deletion = await deletePod(services, pods, record, gracePeriodSeconds);
      if (deletion.result === 'deleted') deleted.add(record);
      if (deletion.result === 'interrupted') left.push(record);
      return deletion.report;
    });
  }
  await deleteAtOnce(services, runPods, async (pod) => deleteOfRun(services, pod, gracePeriodSeconds));
  if (signal.aborted) {
    report.fail(signal.reason);
    for (const record of left) reportLeft(services, record);
    return objects;
  }
  if (registry !== undefined) await deleteCreatedVolumes(services, registry, volumes ? deleted : new Set());
  if (volumes) await deleteVolumes(services, records, deleted);
  return objects;
}

/**
 * Deletes pods at once, since one after the other each would take its grace period. Reports them in their order; after an
 * interruption, no others are deleted.
 */
async function deleteAtOnce<T>(
  {signal}: SignalContext,
  pods: readonly T[],
  act: (pod: T) => Promise<() => void>,
): Promise<void> {
  const report = inOrder();
  await forEachLimit([...pods.entries()], MAX_CONCURRENT, async ([index, pod]) => {
    report(index, signal.aborted ? () => undefined : await act(pod));
  });
}

/** Pods to delete, and the errors for words that name none. */
interface SelectedPods {
  readonly selected: readonly PodRecord[];
  readonly runPods: readonly RunPod[];
  readonly missing: readonly KcriError[];
  /** Objects of the manifests that name the pods: drivers may need their Secrets to delete volumes. */
  readonly objects: readonly ApiObject[];
}

/** Selects pods among the records and, for what they do not contain, among the pods of `kcri run`. */
async function select(
  services: ConnectionContext & EnvironmentContext & ReportContext & SignalContext,
  records: readonly PodRecord[],
  {request, namespace}: {readonly request: DeletionRequest; readonly namespace: string | undefined},
): Promise<SelectedPods> {
  const isInNamespace = (pod: {readonly namespace: string}): boolean =>
    namespace === undefined || pod.namespace === namespace;
  const {selector} = request;
  if (selector !== undefined) {
    const matches = parseLabelSelector(selector);
    const selected = records.filter((one) => isInNamespace(one) && matches(one.pod.metadata.labels ?? {}));
    const runPods = (await listRunPods(services)).filter((one) => isInNamespace(one) && matches(one.labels));
    if (selected.length + runPods.length === 0) services.report.info('No resources found');
    return {selected, runPods, missing: [], objects: []};
  }
  const {context, report, signal} = services;
  const {createManifestFetcher} = await import('../manifests/fetch-manifest-url.js');
  const fetch = createManifestFetcher({clock: context.clock, warn: report.warn});
  const input = {stdin: context.stdin, namespace, fetch, signal};
  const {selected, missing, objects} = await selectPodRecords(records, request, input);
  if (missing.length === 0) return {selected, runPods: [], missing: [], objects};
  const candidates = (await listRunPods(services)).filter(isInNamespace);
  const {findRecordsByName} = await import('../../kubelet/index.js');
  const ofRun = missing.map(({word, error}) => ({found: findRecordsByName(candidates, word), error}));
  return {
    selected,
    runPods: [...new Set(ofRun.flatMap(({found}) => found))],
    missing: ofRun.filter(({found}) => found.length === 0).map(({error}) => error),
    objects,
  };
}

/** Deletes a pod of `kcri run`, and returns the function that reports the result. */
async function deleteOfRun(
  services: RuntimeContext & OutputContext,
  pod: RunPod,
  gracePeriodSeconds: number | undefined,
): Promise<() => void> {
  const {connections, out, report, signal} = services;
  try {
    const {runtime} = await connections.default();
    await deleteRunPod(services, runtime, {pod, gracePeriodSeconds});
    return () => {
      out.print(`pod "${formatPodTitle(pod)}" deleted`);
    };
  } catch (error) {
    return () => {
      if (!signal.aborted) report.fail(error);
    };
  }
}

/**
 * Deletes a pod that kcri created, within its own grace period, or forgets one that the node did not admit. Rejects with
 * KcriError.
 */
export async function deleteListedPod(
  services: RuntimeContext,
  {record, rejected}: Pick<ListedPod, 'record' | 'rejected'>,
): Promise<void> {
  if (rejected !== undefined) {
    const {RejectedPodStore: Store} = await import('../../kubelet/index.js');
    await forgetRejected(services, new Store(services.settings.rootDir), rejected);
  }
  if (record === undefined) return;
  const {runtimeEndpoint} = await services.settings.read();
  const pods = await openRegistry(services, runtimeEndpoint ?? record.endpoint);
  await removePod(services, pods, record, undefined);
}

/** Has drivers delete what they created for the claims of deleted pods, and for pods that are gone. */
async function deleteCreatedVolumes(
  {out, report, signal}: OutputContext & ReportContext & SignalContext,
  registry: PodRegistry,
  deleted: ReadonlySet<PodRecord>,
): Promise<void> {
  const [{claimsOf}, {reclaimVolumes}] = await Promise.all([
    import('../../kubelet/index.js'),
    import('../sync/reclaim-volumes.js'),
  ]);
  const claims = new Set([...deleted].flatMap(({pod}) => claimsOf(pod)));
  const {notes, errors} = await reclaimVolumes(registry, (claim) => claims.has(claim), signal);
  for (const note of notes) out.print(note);
  for (const error of errors) report.fail(error);
}

/** Removes the claims of deleted pods that no other pod uses. */
async function deleteVolumes(
  {settings: {rootDir}, out}: OutputContext & SettingsContext,
  records: readonly PodRecord[],
  deleted: ReadonlySet<PodRecord>,
): Promise<void> {
  const {claimsOf, removeClaims} = await import('../../kubelet/index.js');
  const used = new Set(records.filter((record) => !deleted.has(record)).flatMap(({pod}) => claimsOf(pod)));
  const claims = new Set([...deleted].flatMap(({pod}) => claimsOf(pod)).filter((claim) => !used.has(claim)));
  for (const claim of claims) {
    // A claim that is bound to a PersistentVolume has no directory.
    const removed = await removeClaims({rootDir}, [claim]);
    for (const name of removed) out.print(`persistentvolumeclaim "${name}" deleted`);
  }
}

/** Deletes a pod that the node did not admit. Reports a pod that cannot be deleted. */
async function deleteRejected(
  services: OutputContext & ReportContext & SettingsContext,
  store: RejectedPodStore,
  record: PodRecord,
): Promise<void> {
  const {out, report} = services;
  const {ManagedByKubeletError} = await import('../../kubelet/index.js');
  try {
    await forgetRejected(services, store, record);
    out.print(`pod "${formatPodTitle(record)}" deleted`);
  } catch (error) {
    if (!(error instanceof ManagedByKubeletError)) throw error;
    report.fail(error);
  }
}

/**
 * Removes the record of a pod that the node did not admit. Rejects with ManagedByKubeletError if a running kubelet still
 * desires the pod.
 */
async function forgetRejected(
  {settings}: SettingsContext,
  store: RejectedPodStore,
  record: PodRecord,
): Promise<void> {
  const {findKubelet, ManagedByKubeletError} = await import('../../kubelet/index.js');
  const kubelet = record.manager === 'kubelet' ? await findKubelet(settings.rootDir) : undefined;
  if (kubelet !== undefined) throw new ManagedByKubeletError(record, kubelet.pid, record.source);
  await store.delete(record.uid);
}

/** Returns the records of kcri's pods; a broken record is reconstructed if a word is its UID. */
async function readRecords(
  services: RuntimeContext,
  words: readonly string[],
): Promise<readonly PodRecord[]> {
  const {openPodRegistry, PodStore, SILENT_OBSERVER} = await import('../../kubelet/index.js');
  const {records, broken} = await new PodStore(services.settings.rootDir).list();
  const reconstructed: PodRecord[] = [];
  for (const {uid, error} of broken) {
    if (!words.includes(uid)) services.report.warn(error);
    else {
      // The record's endpoint is unknown: the configured runtime is assumed.
      const registry = openPodRegistry(await readCommandNode(services), SILENT_OBSERVER);
      reconstructed.push(await registry.reconstructRecord(uid));
    }
  }
  return [...records, ...reconstructed];
}

/** Groups pods by the configured runtime, or else by the one that each was created on. */
async function groupByEndpoint(
  {settings}: SettingsContext,
  records: readonly PodRecord[],
): Promise<ReadonlyMap<string, readonly PodRecord[]>> {
  const {runtimeEndpoint} = await settings.read();
  const groups = new Map<string, PodRecord[]>();
  for (const record of records) {
    const endpoint = runtimeEndpoint ?? record.endpoint;
    groups.set(endpoint, [...(groups.get(endpoint) ?? []), record]);
  }
  return groups;
}

/** Opens the pods of a runtime. Reports an unavailable runtime and returns undefined. */
async function openOrReport(
  services: RuntimeContext,
  endpoint: string,
  objects: readonly ApiObject[],
): Promise<PodRegistry | undefined> {
  try {
    return await openRegistry(services, endpoint, objects);
  } catch (error) {
    services.signal.throwIfAborted();
    services.report.fail(error);
    return undefined;
  }
}

/** Opens the pods of a runtime; of a removed private runtime, only files on this machine are left. */
async function openRegistry(
  services: ConnectionContext & EnvironmentContext & SettingsContext & SignalContext,
  endpoint: string,
  objects: readonly ApiObject[] = [],
): Promise<PodRegistry> {
  const [{createApiObjects, readAbandonedNode, openPodRegistry, SILENT_OBSERVER}, {isPrivateRuntimeRemoved}] =
    await Promise.all([
      import('../../kubelet/index.js'),
      import('../../private-runtime/lifecycle/is-removed.js'),
    ]);
  const {
    connections,
    context: {clock, cgroupMount},
    settings: {rootDir},
  } = services;
  const canonical = await canonicalEndpoint(endpoint);
  const node = (await isPrivateRuntimeRemoved(canonical, rootDir))
    ? await readAbandonedNode(canonical, rootDir, clock, cgroupMount)
    : await readCommandNode(services, {}, await connections.open(endpoint));
  return openPodRegistry(node, SILENT_OBSERVER, createApiObjects(objects, []));
}

/** A deletion that has ended. */
interface Deletion {
  readonly result: 'deleted' | 'failed' | 'interrupted';
  /** Reports the result to the user. */
  readonly report: () => void;
}

/** Deletes a pod. */
async function deletePod(
  services: OutputContext & ReportContext & SignalContext,
  pods: PodRegistry,
  record: PodRecord,
  gracePeriodSeconds: number | undefined,
): Promise<Deletion> {
  const {out, report, signal} = services;
  try {
    await removePod(services, pods, record, gracePeriodSeconds);
    const print = (): void => {
      out.print(`pod "${formatPodTitle(record)}" deleted`);
    };
    return {result: 'deleted', report: print};
  } catch (error) {
    const isOwned = isOwnershipError(error);
    if (signal.aborted) return {result: isOwned ? 'failed' : 'interrupted', report: () => undefined};
    const fail = (): void => {
      report.fail(error);
      if (!isOwned) reportLeft(services, record);
    };
    return {result: 'failed', report: fail};
  }
}

/** Reports a pod whose deletion has begun. */
function reportLeft({report}: ReportContext, record: PodRecord): void {
  report.fail(createPodLeftError(record, 'is partially deleted'));
}

/** Removes a pod while its lock is held. Warns if another process was faster. Rejects with KcriError. */
async function removePod(
  {report, signal}: ReportContext & SignalContext,
  pods: PodRegistry,
  record: PodRecord,
  gracePeriodSeconds: number | undefined,
): Promise<void> {
  await pods.locks.withPodLock(record, signal, async () => {
    const current = await currentRecord(pods, record);
    if (current !== undefined) await pods.remover.deletePod(current, {gracePeriodSeconds, signal});
    else report.warn(`pod "${formatPodTitle(record)}" was deleted by another kcri process`);
  });
}

/**
 * Returns the record of a pod while its lock is held; undefined if another process has deleted it. Rejects with
 * SupersededError if a new pod has taken its name.
 */
async function currentRecord(pods: PodRegistry, record: PodRecord): Promise<PodRecord | undefined> {
  try {
    const known = await pods.store.get(record.uid);
    if (known !== undefined && known.removedAt === undefined) return known;
  } catch (error) {
    if (error instanceof SystemError) return record;
    throw error;
  }
  const {SupersededError} = await import('../../kubelet/index.js');
  if ((await pods.findByName(record)) !== undefined) throw new SupersededError(record, 'replaced');
  return undefined;
}
