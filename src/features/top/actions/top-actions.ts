import {SystemError} from '../../../base/errors.js';
import {containerId, type Connection, type ContainerId} from '../../../cri/index.js';
import type {DialectContext, OutputContext, RuntimeContext} from '../../../cli/command/contexts.js';
import {topEventLines} from '../metrics/top-table.js';
import type {RecordedEvent} from '../../../kubelet/index.js';
import type {RemoteSession} from '../../../streaming/session/session.js';
import {describePods} from '../../describe/describe-pods.js';
import type {ListedPod, ShownPod} from '../../pods/listed-pod.js';
import {PodReader} from '../../pods/pod-reader.js';
import {itemTitle, type TopItem} from '../model/top-item.js';
import type {PagerView} from '../model/pager.js';
import {safeText} from '../view/screen-lines.js';
import {deleteTarget, type ActionTarget} from './change-pod.js';
import {followEvents} from './follow-events.js';
import {followLogs, type FollowLogsOptions, type FollowOptions} from './follow-logs.js';
import {openShell, startTerminal} from './open-shell.js';

/** Annotation of a pod that names the container for shells. */
const DEFAULT_CONTAINER = 'kubectl.kubernetes.io/default-container';

/** Actions on the rows of a node of the full-screen view. */
export class TopActions {
  readonly #services: RuntimeContext & DialectContext & OutputContext;
  readonly #reader: PodReader;
  readonly #connections = new Map<string, Connection>();

  constructor(services: RuntimeContext & DialectContext & OutputContext) {
    this.#services = services;
    this.#reader = new PodReader(services);
  }

  /** Returns what an action needs about a row. Rejects with KcriError. */
  async target(item: TopItem, shown: ShownPod, containers: readonly TopItem[]): Promise<ActionTarget> {
    return {item, shown, containers, connection: await this.#connect(shown.listed)};
  }

  /** Deletes what a row shows. Rejects with KcriError. */
  async delete(target: ActionTarget): Promise<void> {
    await deleteTarget(this.#services, target);
  }

  /** Restarts what a row shows, and waits for the next instances. Rejects with KcriError. */
  async restart({item: {kind, name}, shown: {listed}}: ActionTarget): Promise<void> {
    const reader = new PodReader(this.#services);
    const {restartTarget} = await import('../../restart/run-restart.js');
    await restartTarget(
      this.#services,
      reader,
      kind === 'pod' ? {kind, listed} : {kind, listed, name, id: undefined, isPinned: false},
    );
  }

  /** Runs a shell in a container: the one of the row, or the default container of the pod. */
  async openShell(target: ActionTarget): Promise<void> {
    await openShell(this.#services, target.connection, runningContainer(target));
  }

  /**
   * Starts a shell on a terminal in the container of the row, or the default container of the pod. Rejects with KcriError, and
   * with the signal's reason if it aborts first.
   */
  async startTerminal(target: ActionTarget, signal: AbortSignal): Promise<RemoteSession> {
    return await startTerminal(this.#services, target.connection, runningContainer(target), signal);
  }

  /** Follows the logs of the containers of a row until the signal aborts. */
  async followLogs(target: ActionTarget, options: FollowLogsOptions): Promise<void> {
    const containers = target.containers.flatMap((container) => {
      const id = idOf(container);
      return id === undefined ? [] : [{id, name: container.name}];
    });
    if (containers.length === 0)
      throw new SystemError(`no container of ${itemTitle(target.item)} has been created`);
    await followLogs(this.#services, target.connection, containers, options);
  }

  /** Follows the events of the runtime about the pod of a row until the signal aborts. */
  async followEvents({item, connection}: ActionTarget, options: FollowOptions): Promise<void> {
    await followEvents(connection.runtime, itemTitle({...item, kind: 'pod'}), options);
  }

  /** Returns the lines of a description, of the answer of `why`, or of events. */
  async readText(view: PagerView, {kind, name}: TopItem, sampled: ShownPod): Promise<readonly string[]> {
    const shown = view === 'events' ? sampled : await this.#observeAgain(sampled);
    if (view === 'why') {
      const {readWhy} = await import('./read-why.js');
      const container = kind === 'pod' ? undefined : name;
      const text = await readWhy(this.#services, this.#reader, {shown, container});
      return text.trimEnd().split('\n').map(safeText);
    }
    if (view === 'describe') {
      const [text = ''] = await describePods(this.#services, this.#reader, [shown]);
      return text.trimEnd().split('\n').map(safeText);
    }
    const events = await this.recordedEvents(shown);
    const {namespace, name: pod} = shown.listed;
    return topEventLines(
      events.map((event) => ({...event, namespace, pod})),
      this.#services.context.clock.now(),
    ).map(safeText);
  }

  /** Returns the recorded events of a pod of kcri, newest last. Rejects with SystemError. */
  async recordedEvents({listed}: ShownPod): Promise<readonly RecordedEvent[]> {
    return (await this.#reader.recordedEvents([listed])).map(({event}) => event);
  }

  /**
   * Reads the status of a pod of kcri from its runtime: samples do so only when the state of one of its objects changes, which
   * other resources, such as after UpdateContainerResources, do not.
   */
  async #observeAgain(shown: ShownPod): Promise<ShownPod> {
    if (shown.listed.record === undefined) return shown;
    this.#reader.forgetObserved();
    const [observed] = await this.#reader.observe([shown.listed]);
    return observed ?? shown;
  }

  /** Returns the connection to the runtime of a pod. */
  async #connect({record}: ListedPod): Promise<Connection> {
    const {connections} = this.#services;
    if (record === undefined) return await connections.default();
    const connection = this.#connections.get(record.endpoint) ?? (await connections.open(record.endpoint));
    this.#connections.set(record.endpoint, connection);
    return connection;
  }
}

/** Returns the container for a shell. Throws SystemError if it does not run. */
function runningContainer(target: ActionTarget): {readonly id: ContainerId; readonly title: string} {
  const container = chooseContainer(target);
  const id = idOf(container);
  if (id === undefined || container?.state !== 'Running')
    throw new SystemError(`no container of ${itemTitle(target.item)} is running`);
  return {id, title: itemTitle(container)};
}

/** Returns the container for a shell: the annotated one, the first of the spec that runs, or any that runs. */
function chooseContainer({shown: {pod}, containers}: ActionTarget): TopItem | undefined {
  const annotated = pod.metadata.annotations?.[DEFAULT_CONTAINER];
  const names = [
    ...(annotated === undefined ? [] : [annotated]),
    ...pod.spec.containers.map(({name}) => name),
  ];
  const running = containers.filter(({state}) => state === 'Running');
  const chosen = names.flatMap((name) => running.find((container) => container.name === name) ?? []);
  return chosen[0] ?? running[0] ?? containers[0];
}

function idOf(container: TopItem | undefined): ContainerId | undefined {
  return container?.containerId === undefined ? undefined : containerId(container.containerId);
}
