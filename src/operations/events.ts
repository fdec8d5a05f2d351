import type {
  Container,
  ContainerEventResponse,
  ContainerEventType,
  PodSandbox,
  RuntimeService,
} from '../cri/index.js';
import {matches} from './filters.js';
import {listAllContainers, listAllSandboxes} from '../cri/list-all.js';

/** What can happen to a container or a sandbox. */
export const EVENT_TYPES = ['created', 'started', 'stopped', 'deleted'] as const;
export type EventType = (typeof EVENT_TYPES)[number];

const TYPES = {
  CONTAINER_CREATED_EVENT: 'created',
  CONTAINER_STARTED_EVENT: 'started',
  CONTAINER_STOPPED_EVENT: 'stopped',
  CONTAINER_DELETED_EVENT: 'deleted',
} as const satisfies Record<ContainerEventType, EventType>;

type Labels = Readonly<Record<string, string>>;

interface PodFacts {
  readonly id: string;
  readonly name: string;
  readonly namespace: string;
  readonly labels: Labels;
}

interface ContainerFacts {
  readonly id: string;
  readonly name: string;
  readonly podId: string;
  readonly labels: Labels;
}

/** What an event is about, as far as it is known. */
export interface EventSubject {
  readonly pod: PodFacts | undefined;
  /** Undefined for an event of a sandbox itself. */
  readonly container: ContainerFacts | undefined;
}

/** An event, and what is known of the container and the pod that it is about. */
export interface NamedEvent extends EventSubject {
  readonly event: ContainerEventResponse;
  readonly type: EventType;
}

/**
 * Gives events their names. An event of something that was deleted does not carry them any more, so they are
 * remembered from events before it and from what there was at the start.
 */
export class EventNames {
  readonly #pods = new Map<string, PodFacts>();
  readonly #containers = new Map<string, ContainerFacts>();

  /** Learns what there is. One ListPodSandbox and one ListContainers. */
  async learn(runtime: RuntimeService, signal: AbortSignal): Promise<void> {
    for (const sandbox of await listAllSandboxes(runtime, {}, signal)) this.#addPod(sandbox);
    for (const container of await listAllContainers(runtime, {}, signal))
      this.#addContainer(container, container.podSandboxId);
  }

  /** The event with names; what it deletes is forgotten. */
  name(event: ContainerEventResponse): NamedEvent {
    const {containerId: id, podSandboxStatus: sandbox, containersStatuses, containerEventType} = event;
    if (sandbox !== undefined) this.#addPod(sandbox);
    for (const status of containersStatuses) this.#addContainer(status, sandbox?.id ?? '');
    const type = TYPES[containerEventType];
    const named = {event, type, ...this.#subject(id, sandbox?.id ?? '')};
    if (type === 'deleted') {
      this.#pods.delete(id);
      this.#containers.delete(id);
    }
    return named;
  }

  #subject(id: string, sandboxId: string): EventSubject {
    const ofPod = this.#pods.get(id);
    if (ofPod !== undefined) return {pod: ofPod, container: undefined};
    const container = this.#containers.get(id) ?? {id, name: '', podId: sandboxId, labels: {}};
    return {pod: this.#pods.get(container.podId), container};
  }

  #addPod({id, metadata, labels}: Pick<PodSandbox, 'id' | 'metadata' | 'labels'>): void {
    const {name = '', namespace = ''} = metadata ?? {};
    this.#pods.set(id, {id, name, namespace, labels});
  }

  #addContainer({id, metadata, labels}: Pick<Container, 'id' | 'metadata' | 'labels'>, podId: string): void {
    this.#containers.set(id, {id, name: metadata?.name ?? '', podId, labels});
  }
}

/** Which events are wanted; what is left out does not matter. */
export interface EventFilter {
  readonly types?: readonly EventType[] | undefined;
  /** Ids or beginnings of ids, names, `pod/name`, `namespace/pod/name`. */
  readonly containers?: readonly string[] | undefined;
  /** Ids or beginnings of ids, names, `namespace/name`. */
  readonly pods?: readonly string[] | undefined;
  readonly namespace?: RegExp | undefined;
  /** Of the container or its pod. */
  readonly labels?: Labels | undefined;
}

/** Whether a filter looks at more than an event of something deleted says. */
export function needsNames({containers, pods, namespace, labels = {}}: EventFilter): boolean {
  return (
    [containers, pods, namespace].some((wanted) => wanted !== undefined) || Object.keys(labels).length > 0
  );
}

/** Whether an event passes all that the filter names; one without a type is of none. */
export function isWantedEvent(
  named: EventSubject & {readonly type?: EventType},
  filter: EventFilter,
): boolean {
  const {type, pod, container} = named;
  const own: Labels = {...pod?.labels, ...container?.labels};
  return (
    isAny(filter.types, (wanted) => wanted === type) &&
    isAny(filter.containers, (ref) => isContainer(named, ref)) &&
    isAny(filter.pods, (ref) => isPod(pod, ref)) &&
    matches(filter.namespace, pod?.namespace ?? '') &&
    Object.entries(filter.labels ?? {}).every(([key, value]) => own[key] === value)
  );
}

/** Whether one of several fits; none is wanted in particular when there are none. */
function isAny<T>(wanted: readonly T[] | undefined, fits: (item: T) => boolean): boolean {
  return wanted === undefined || wanted.length === 0 || wanted.some(fits);
}

function isPod(pod: PodFacts | undefined, ref: string): boolean {
  if (pod === undefined) return false;
  return isId(pod.id, ref) || ref === pod.name || ref === `${pod.namespace}/${pod.name}`;
}

function isContainer({container, pod}: EventSubject, ref: string): boolean {
  if (container === undefined) return false;
  const {id, name} = container;
  const {name: podName = '', namespace = ''} = pod ?? {};
  return isId(id, ref) || [name, `${podName}/${name}`, `${namespace}/${podName}/${name}`].includes(ref);
}

function isId(id: string, ref: string): boolean {
  return ref !== '' && id.startsWith(ref);
}
