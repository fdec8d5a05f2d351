import type {Pod} from '../../../api/types/v1-pod.js';
import type {ContainerStatus} from '../../../api/types/v1-status.js';
import {anySignal} from '../../../base/async/any-signal.js';
import {createDeadline} from '../../../base/async/deadline.js';
import {KcriError, SystemError} from '../../../base/errors.js';
import type {RuntimeContext} from '../../../cli/command/contexts.js';
import type {Connection} from '../../../cri/index.js';
import type {KubeletReport, RecordedEvent} from '../../../kubelet/index.js';
import {readLastLogLines} from '../../describe/last-log-lines.js';
import {logFilesOf} from '../../logs/log-files-of.js';
import type {ShownPod} from '../../pods/listed-pod.js';
import {formatPodTitle} from '../../pods/pod-title.js';
import type {PodReader} from '../../pods/pod-reader.js';
import type {Unread} from '../finding.js';
import {collectRunning} from './collect-running.js';
import type {NodeReader} from './node-reader.js';
import type {ContainerFacts, Holder, PodSnapshot} from './pod-snapshot.js';
import {snapshotOfStatus} from './status-snapshot.js';
import {wantedHolders} from './wanted-holders.js';

/** Time for everything that is read of one pod, in ms: an answer without the log is better than none. */
const LIMIT_MS = 4000;
/** Number of characters of an event's message. */
const MAX_MESSAGE = 4096;

/** Facts about containers by name. */
type Facts = Readonly<Record<string, ContainerFacts>>;

/** Sources of the facts about pods. */
export interface PodSources {
  readonly services: RuntimeContext;
  readonly reader: PodReader;
  readonly node: NodeReader;
  /** Report of the running kubelet, if there is one. */
  readonly report: KubeletReport | undefined;
}

/** Reads everything that answers why a pod is in its state. What cannot be read in time is named in the snapshot. */
export async function collectPod(sources: PodSources, shown: ShownPod): Promise<PodSnapshot> {
  const {services, reader, node, report} = sources;
  const {listed, pod} = shown;
  using limit = createDeadline(services.context.clock, LIMIT_MS, () => new SystemError('not read in time'));
  using either = anySignal(services.signal, limit.signal);
  const unread = unreadOf(sources, shown);
  const parts = new PartReader(services.signal, unread);
  const {runtimeFailure} = reader;
  const hasExits = exitsOf(pod).length > 0;
  const [{logs, running}, events, oomKills, bootedAt, runtimeStartedAt] = await Promise.all([
    runtimeFailure === undefined ? readRuntime(sources, shown, {parts, signal: either.signal}) : NOTHING,
    parts.read('events', [], async () => (await reader.recordedEvents([listed])).map(({event}) => event)),
    !hasExits ? [] : parts.read('kernel log', [], async () => await node.oomKills()),
    parts.read('time of the boot', undefined, async () => await node.bootedAt()),
    hasExits ? readRuntimeStart(sources, shown, parts) : undefined,
  ]);
  const containers = Object.fromEntries(
    statusesOf(pod).map(({name}): [string, ContainerFacts] => {
      const ids = exitsOf(pod, name);
      const kills = oomKills.filter(({containerId}) => ids.includes(containerId));
      const log = logs.get(name);
      return [name, {...running[name], ...(log && {log}), ...(kills.length > 0 && {oomKills: kills})}];
    }),
  );
  const snapshot: PodSnapshot = {
    ...snapshotOfStatus(shown, services.context.clock.now()),
    runtimeError: runtimeFailure?.plainMessage,
    events: events.map(shortened),
    kubelet: report?.pods.find(({uid}) => uid === listed.uid),
    kubeletErrors: report?.errors ?? [],
    containers,
    node: {
      ...(bootedAt !== undefined && {bootedAt}),
      ...(runtimeStartedAt !== undefined && {runtimeStartedAt}),
    },
    unread,
  };
  const holders = await readHolders(sources, snapshot, {parts, signal: either.signal});
  return holders.length === 0 ? snapshot : {...snapshot, node: {...snapshot.node, holders}};
}

/** Reads the time at which the runtime of a pod made its socket. */
async function readRuntimeStart(
  {services, node}: PodSources,
  {listed}: ShownPod,
  parts: PartReader,
): Promise<string | undefined> {
  return await parts.read('start of the runtime', undefined, async () => {
    const endpoint = listed.record?.endpoint ?? (await services.connections.endpoint());
    return await node.runtimeStartedAt(endpoint);
  });
}

/** Reads who uses the ports and mounts that the pod cannot have. */
async function readHolders(
  {reader, node}: PodSources,
  snapshot: PodSnapshot,
  {parts, signal}: {readonly parts: PartReader; readonly signal: AbortSignal},
): Promise<readonly Holder[]> {
  const wanted = wantedHolders(snapshot);
  const {uid} = snapshot.pod.metadata;
  if (wanted.ports.length === 0 && wanted.paths.length === 0) return [];
  return await parts.read('users of ports and mounts', [], async () => {
    const others = (await reader.select([], {})).flatMap((listed) => {
      const pod = listed.record?.pod ?? listed.ofKubelet;
      return pod === undefined || listed.uid === uid ? [] : [{title: formatPodTitle(listed), pod}];
    });
    return await node.holders(wanted, others, signal);
  });
}

/** Facts about the containers, from the runtime and from their processes. */
interface RuntimeFacts {
  readonly logs: ReadonlyMap<string, readonly string[]>;
  readonly running: Facts;
}

const NOTHING: RuntimeFacts = {logs: new Map(), running: {}};

async function readRuntime(
  {services, node}: PodSources,
  shown: ShownPod,
  {parts, signal}: {readonly parts: PartReader; readonly signal: AbortSignal},
): Promise<RuntimeFacts> {
  const connect = connectTo(services, shown);
  const [logs, running] = await Promise.all([
    parts.read('logs', NOTHING.logs, async () => {
      const files = await logFilesOf(services);
      return await readLastLogLines(connect, shown.pod, {files, signal});
    }),
    parts.read(
      'processes',
      NOTHING.running,
      async () => await collectRunning({connect, node, signal}, shown.pod, parts.unread),
    ),
  ]);
  return {logs, running};
}

/** Returns what is not read at all. */
function unreadOf({reader}: PodSources, {listed}: ShownPod): Unread[] {
  return [
    ...(reader.runtimeFailure === undefined
      ? []
      : [{what: 'logs and processes', reason: 'the runtime is unavailable'}]),
    ...(listed.manager === 'kcri'
      ? []
      : [{what: 'events', reason: 'only the API server of its kubelet has them'}]),
  ];
}

/** Reads parts of a snapshot. */
class PartReader {
  readonly #signal: AbortSignal;
  /** Parts that could not be read. */
  readonly unread: Unread[];

  constructor(signal: AbortSignal, unread: Unread[]) {
    this.#signal = signal;
    this.unread = unread;
  }

  /** Resolves with the part, or with another value if it cannot be read. Rejects with the signal's reason. */
  async read<T>(what: string, otherwise: T, act: () => Promise<T>): Promise<T> {
    try {
      return await act();
    } catch (error) {
      this.#signal.throwIfAborted();
      if (!(error instanceof KcriError)) throw error;
      this.unread.push({what, reason: error.plainMessage});
      return otherwise;
    }
  }
}

/** Returns a function that connects to the runtime of a pod. */
function connectTo({connections}: RuntimeContext, {listed}: ShownPod): () => Promise<Connection> {
  const endpoint = listed.record?.endpoint;
  return async () => await (endpoint === undefined ? connections.default() : connections.open(endpoint));
}

/** Returns an event with a message of limited length. */
export function shortened(event: RecordedEvent): RecordedEvent {
  return {...event, message: event.message.slice(0, MAX_MESSAGE)};
}

function statusesOf({status = {}}: Pod): readonly ContainerStatus[] {
  return [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])];
}

/** Returns the IDs of the instances that have exited, without the scheme of their runtime. */
function exitsOf(pod: Pod, name?: string): readonly string[] {
  return statusesOf(pod)
    .filter((status) => name === undefined || status.name === name)
    .flatMap(({state = {}, lastState = {}}) => [lastState.terminated, state.terminated])
    .flatMap((exit) => exit?.containerID?.replace(/^.*:\/\//, '') ?? []);
}
