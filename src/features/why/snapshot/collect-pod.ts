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
import type {PodReader} from '../../pods/pod-reader.js';
import type {Unread} from '../finding.js';
import {collectRunning} from './collect-running.js';
import type {NodeReader} from './node-reader.js';
import type {ContainerFacts, PodSnapshot} from './pod-snapshot.js';
import {snapshotOfStatus} from './status-snapshot.js';

/** Time for everything that is read of one pod, in ms: an answer without the log is better than none. */
const LIMIT_MS = 4000;
/** Number of characters of an event's message. */
const MAX_MESSAGE = 4096;

/** Facts about containers by name. */
type Facts = Readonly<Record<string, ContainerFacts>>;

const NO_FACTS: Facts = {};

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
  const unread: Unread[] = [];
  using limit = createDeadline(services.context.clock, LIMIT_MS, () => new SystemError('not read in time'));
  using either = anySignal(services.signal, limit.signal);
  const signal = either.signal;
  const read = async <T>(what: string, otherwise: T, act: () => Promise<T>): Promise<T> => {
    try {
      return await act();
    } catch (error) {
      services.signal.throwIfAborted();
      if (!(error instanceof KcriError)) throw error;
      unread.push({what, reason: error.plainMessage});
      return otherwise;
    }
  };
  const {runtimeFailure} = reader;
  const [events, logs, running, oomKills] = await Promise.all([
    read('events', [], async () =>
      (await reader.recordedEvents([listed])).map(({event}) => shortened(event)),
    ),
    runtimeFailure === undefined
      ? read('logs', new Map<string, readonly string[]>(), async () => {
          const files = await logFilesOf(services);
          return await readLastLogLines(connectTo(services, shown), pod, {files, signal});
        })
      : new Map<string, readonly string[]>(),
    runtimeFailure === undefined
      ? read<Facts>(
          'processes',
          {},
          async () => await collectRunning({connect: connectTo(services, shown), node, signal}, pod, unread),
        )
      : NO_FACTS,
    exitsOf(pod).length === 0 ? [] : read('kernel log', [], async () => await node.oomKills()),
  ]);
  if (listed.manager !== 'kcri')
    unread.push({what: 'events', reason: 'only the API server of its kubelet has them'});
  const containers = Object.fromEntries(
    statusesOf(pod).map(({name}): [string, ContainerFacts] => {
      const ids = exitsOf(pod, name);
      const kills = oomKills.filter(({containerId}) => ids.includes(containerId));
      const log = logs.get(name);
      return [name, {...running[name], ...(log && {log}), ...(kills.length > 0 && {oomKills: kills})}];
    }),
  );
  const bootedAt = await read('time of the boot', undefined, async () => await node.bootedAt());
  return {
    ...snapshotOfStatus(shown, services.context.clock.now()),
    runtimeError: runtimeFailure?.plainMessage,
    events,
    kubelet: report?.pods.find(({uid}) => uid === listed.uid),
    kubeletErrors: report?.errors ?? [],
    containers,
    node: {...(bootedAt !== undefined && {bootedAt})},
    unread,
  };
}

/** Returns a function that connects to the runtime of a pod. */
function connectTo({connections}: RuntimeContext, {listed}: ShownPod): () => Promise<Connection> {
  const endpoint = listed.record?.endpoint;
  return async () => await (endpoint === undefined ? connections.default() : connections.open(endpoint));
}

function shortened(event: RecordedEvent): RecordedEvent {
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
