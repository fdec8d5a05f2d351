import type {
  Container,
  ContainerEventResponse,
  ContainerEventType,
  PodSandbox,
  RuntimeService,
} from '../../cri/index.js';
import type {TextPattern} from '../filters/go-regexp.js';
import {matchesPattern} from '../filters/list-filters.js';
import {listAllContainers, listAllSandboxes} from '../../cri/list-all.js';

/** Types of events of containers and sandboxes. */
export const EVENT_TYPES = ['created', 'started', 'stopped', 'deleted'] as const;
/** Type of an event. */
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

/** Container and pod of an event, as far as known. */
export interface EventSubject {
  readonly pod: PodFacts | undefined;
  /** Container of the event; undefined for an event of a sandbox. */
  readonly container: ContainerFacts | undefined;
}

/** An event with the names of its container and pod. */
export interface NamedEvent extends EventSubject {
  readonly event: ContainerEventResponse;
  readonly type: EventType;
}

/**
 * Adds names to events. Events of deleted objects lack them, so they are cached from earlier events and from the
 * initial lists.
 */
export class EventNameResolver {
  readonly #pods = new Map<string, PodFacts>();
  readonly #containers = new Map<string, ContainerFacts>();

  /** Reads all sandboxes and containers, with one ListPodSandbox and one ListContainers call. */
  async load(runtime: RuntimeService, signal: AbortSignal): Promise<void> {
    for (const sandbox of await listAllSandboxes(runtime, {}, signal)) this.#addPod(sandbox);
    for (const container of await listAllContainers(runtime, {}, signal))
      this.#addContainer(container, container.podSandboxId);
  }

  /** Returns the event with names, and forgets the object that it deletes. */
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
    const pod = this.#pods.get(id);
    if (pod !== undefined) return {pod, container: undefined};
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

/** Conditions for events. Omitted conditions match all. */
export interface EventFilter {
  readonly types?: readonly EventType[] | undefined;
  /** IDs, ID prefixes, names, `pod/name`, or `namespace/pod/name`. */
  readonly containers?: readonly string[] | undefined;
  /** IDs, ID prefixes, names, or `namespace/name`. */
  readonly pods?: readonly string[] | undefined;
  readonly namespace?: TextPattern | undefined;
  /** Labels of the container or its pod. */
  readonly labels?: Labels | undefined;
}

/** Reports whether a filter needs more than the event of a deleted object contains. */
export function needsNames({containers, pods, namespace, labels = {}}: EventFilter): boolean {
  return (
    [containers, pods, namespace].some((condition) => condition !== undefined) ||
    Object.keys(labels).length > 0
  );
}

/** Reports whether an event matches all conditions of a filter. An event without type matches no type. */
export function matchesEventFilter(
  named: EventSubject & {readonly type?: EventType},
  filter: EventFilter,
): boolean {
  const {type, pod, container} = named;
  const actual: Labels = {...pod?.labels, ...container?.labels};
  return (
    matchesAny(filter.types, (each) => each === type) &&
    matchesAny(filter.containers, (ref) => isContainer(named, ref)) &&
    matchesAny(filter.pods, (ref) => isPod(pod, ref)) &&
    matchesPattern(filter.namespace, pod?.namespace ?? '') &&
    Object.entries(filter.labels ?? {}).every(([key, value]) => actual[key] === value)
  );
}

/** Reports whether any of the conditions matches; no conditions match all. */
function matchesAny<T>(conditions: readonly T[] | undefined, matches: (item: T) => boolean): boolean {
  return conditions === undefined || conditions.length === 0 || conditions.some(matches);
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
