import {forEachLimit} from '../../base/async/for-each-limit.js';
import type {RuntimeContext} from '../../cli/command/contexts.js';
import {
  CriError,
  isNotFound,
  type Connection,
  type Container,
  type PodUid,
  type RuntimeService,
} from '../../cri/index.js';
import type {PodHistories, PodLife, TimelineStep} from '../../kubelet/index.js';
import {requestKubeletReport} from '../node/kubelet-reports.js';
import type {ListedPod, ShownPod} from '../pods/listed-pod.js';
import type {PodReader} from '../pods/pod-reader.js';
import {measuredInstances} from './measured-instances.js';
import type {ContainerTimes, PodFacts, SandboxTimes} from './pod-facts.js';

/** Number of pods and of containers whose facts are read at once. */
const AT_ONCE = 4;
/** Label of a kubelet with the UID of the pod. */
const UID_LABEL = 'io.kubernetes.pod.uid';

/** Sources of the facts about a pod. */
export interface FactSources {
  readonly services: RuntimeContext;
  readonly reader: PodReader;
  /** Returns the steps of a pod that were measured; empty if there are none. */
  readonly stepsOf: (uid: PodUid) => readonly TimelineStep[];
}

/** Returns the steps that this machine's kubelet measured, by pod; none of another node. */
export async function readSteps(services: RuntimeContext): Promise<FactSources['stepsOf']> {
  if (!(await isOfThisMachine(services))) return () => [];
  const report = await requestKubeletReport(services, {timelines: true});
  const steps = new Map(report?.pods.map(({uid, timeline = []}) => [uid, timeline]));
  return (uid) => steps.get(uid) ?? [];
}

/**
 * Returns the facts about the pods that this machine's kubelet has deleted and still knows, the one that ended last at the end; none of
 * another node.
 */
export async function readDeletedFacts(services: RuntimeContext): Promise<readonly PodFacts[]> {
  if (!(await isOfThisMachine(services))) return [];
  const report = await requestKubeletReport(services, {uids: [], deletedPods: true});
  const nowMs = services.context.clock.now();
  return (report?.deletedPods ?? []).map((life) => ({...measuredFacts(life, nowMs), isDeleted: true}));
}

/** Returns the facts that kcri measured about a pod of its own, for one that nothing else is known of. Pure. */
export function measuredFacts({pod, steps}: PodLife, nowMs: number): PodFacts {
  const {namespace = '', name = '', uid = ''} = pod.metadata;
  return {
    ...{namespace, name, uid, manager: 'kcri', pod},
    ...{sandboxes: [], containers: measuredInstances(steps)},
    ...{events: [], mounts: [], steps, nowMs},
  };
}

async function isOfThisMachine({settings}: RuntimeContext): Promise<boolean> {
  return (await settings.remoteEndpoint()) === undefined && !(await settings.isSaved());
}

/** Reads the facts about pods, in their order. Those of a runtime that fails are absent. Rejects with SystemError. */
export async function collectFacts(
  sources: FactSources,
  shown: readonly ShownPod[],
): Promise<readonly PodFacts[]> {
  const {PodHistories} = await import('../../kubelet/index.js');
  const {settings, context} = sources.services;
  const histories = new PodHistories(settings.rootDir, context.clock);
  const facts = new Map<ShownPod, PodFacts>();
  await forEachLimit(shown, AT_ONCE, async (each) => {
    facts.set(each, await collectPodFacts({...sources, histories}, each));
  });
  return shown.flatMap((each) => facts.get(each) ?? []);
}

async function collectPodFacts(
  {services, reader, stepsOf, histories}: FactSources & {readonly histories: PodHistories},
  {listed, pod}: ShownPod,
): Promise<PodFacts> {
  const {namespace, name, uid, manager, record} = listed;
  const steps = stepsOf(uid);
  const [events, {sandboxes, containers}, mounts] = await Promise.all([
    reader.recordedEvents([listed]),
    readTimes(services, listed, reader.runtimeFailure !== undefined),
    record === undefined ? [] : histories.volumes(uid),
  ]);
  return {
    ...{namespace, name, uid, manager, pod},
    ...{sandboxes, containers: withMeasured(containers, steps)},
    events: events.map(({event}) => event),
    ...{mounts, steps},
    nowMs: services.context.clock.now(),
  };
}

/** Adds the instances that the runtime has removed. */
function withMeasured(
  found: readonly ContainerTimes[],
  steps: readonly TimelineStep[],
): readonly ContainerTimes[] {
  const ids = new Set(found.map(({id}) => id));
  return [...measuredInstances(steps).filter(({id}) => !ids.has(id)), ...found].toSorted(
    (a, b) => a.createdMs - b.createdMs,
  );
}

type Times = Pick<PodFacts, 'sandboxes' | 'containers'>;

const NO_TIMES: Times = {sandboxes: [], containers: []};

async function readTimes(
  services: RuntimeContext,
  listed: ListedPod,
  isUnavailable: boolean,
): Promise<Times> {
  const {connections, signal} = services;
  const endpoint = listed.record?.endpoint;
  if (isUnavailable || listed.rejected !== undefined) return NO_TIMES;
  try {
    const {runtime}: Connection =
      endpoint === undefined ? await connections.default() : await connections.open(endpoint);
    const {sandboxes, containers} = listed.inRuntime ?? (await listInRuntime(runtime, listed.uid, signal));
    return {
      sandboxes: sandboxes
        .map(({createdAt}): SandboxTimes => ({createdMs: toMs(createdAt)}))
        .toSorted((a, b) => a.createdMs - b.createdMs),
      containers: await readContainers(runtime, containers, signal),
    };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof CriError)) throw error;
    services.report.warn(`the times of containers could not be read: ${error.plainMessage}`);
    return NO_TIMES;
  }
}

async function listInRuntime(runtime: RuntimeService, uid: string, signal: AbortSignal) {
  const filter = {labelSelector: {[UID_LABEL]: uid}};
  const [{items: sandboxes}, {containers}] = await Promise.all([
    runtime.listPodSandbox({filter}, {signal}),
    runtime.listContainers({filter}, {signal}),
  ]);
  return {sandboxes, containers};
}

async function readContainers(
  runtime: RuntimeService,
  containers: readonly Pick<Container, 'id'>[],
  signal: AbortSignal,
): Promise<readonly ContainerTimes[]> {
  const found: ContainerTimes[] = [];
  await forEachLimit(containers, AT_ONCE, async ({id}) => {
    try {
      const {status} = await runtime.containerStatus({containerId: id}, {signal});
      if (status === undefined) return;
      const {createdAt, startedAt, finishedAt, exitCode} = status;
      found.push({
        ...{id, name: status.metadata?.name ?? '', createdMs: toMs(createdAt)},
        ...(startedAt > 0n && {startedMs: toMs(startedAt)}),
        ...(finishedAt > 0n && {finishedMs: toMs(finishedAt), exitCode}),
      });
    } catch (error) {
      // Removed in the meantime.
      if (!isNotFound(error)) throw error;
    }
  });
  return found.toSorted((a, b) => a.createdMs - b.createdMs);
}

/** Converts ns to ms, with microseconds as its fraction. */
function toMs(nanos: bigint): number {
  return Number(nanos / 1000n) / 1000;
}
