import {systemClock, type Clock} from '../../../src/base/clock.js';
import {
  defaultBehaviour,
  defaultExec,
  type ResolveBehaviour,
  type ResolveExec,
} from './container-behaviour.js';
import {anImage, hexId, type ContainerWithSandbox} from '../runtime-builders.js';
import {EventFeed} from './event-feed.js';
import {unknownError, notFoundError} from './grpc-status-error.js';
import type {ContainerRecord, ImageRecord, SandboxRecord} from './runtime-records.js';
import type {DeepPartial, Message} from './cri-messages.js';

/** What a fake runtime starts with. */
export interface FakeRuntimeStateOptions {
  /** What is pulled already; busybox unless given. */
  readonly images?: readonly ImageRecord[] | undefined;
  /** What PullImage finds. */
  readonly registry?: readonly ImageRecord[] | undefined;
  readonly sandboxes?: readonly SandboxRecord[] | undefined;
  /** The sandbox of a container is added with it, when it isn't among `sandboxes`. */
  readonly containers?: readonly ContainerWithSandbox[] | undefined;
  readonly behaviour?: ResolveBehaviour | undefined;
  readonly exec?: ResolveExec | undefined;
  readonly clock?: Clock | undefined;
  /** The groups that a container's process is in besides its own; those of busybox's root unless given. */
  readonly supplementalGroups?: readonly string[] | undefined;
  /** The addresses of all sandboxes; the next free one of 10.244.0.0/16 unless given. */
  readonly podIps?: readonly string[] | undefined;
  readonly runtimeName?: string | undefined;
  readonly runtimeVersion?: string | undefined;
  readonly cgroupDriver?: Message<'LinuxRuntimeConfiguration'>['cgroupDriver'] | undefined;
  /** The names that RunPodSandbox takes as runtime handler beside the empty one. */
  readonly runtimeHandlers?: readonly string[] | undefined;
  /** Give the next listener the events that nobody heard, as containerd 2 does. */
  readonly buffersEvents?: boolean | undefined;
  /** Lists of containers and sandboxes have everything in them, whatever the filter: the CRI allows that. */
  readonly ignoresFilters?: boolean | undefined;
  /** Where Exec, Attach and PortForward send the caller; they are UNIMPLEMENTED without it. */
  readonly streamingUrl?: string | undefined;
}

/** Everything that the fake runtime knows: it outlives a crash, as a real runtime's store does. */
export class FakeRuntimeState {
  readonly sandboxes = new Map<string, SandboxRecord>();
  readonly containers = new Map<string, ContainerRecord>();
  /** By image id. */
  readonly images = new Map<string, ImageRecord>();
  readonly registry: ImageRecord[];
  readonly events: EventFeed<DeepPartial<Message<'ContainerEventResponse'>>>;
  readonly conditions = new Map<string, DeepPartial<Message<'RuntimeCondition'>>>();
  /** Aborts when the fake is disposed of: no process of a container outlives it. */
  readonly disposed = new AbortController();
  readonly options: FakeRuntimeStateOptions;
  readonly clock: Clock;
  #lastNanos = 0n;
  #ids = 0;
  #addresses = 1;

  constructor(options: FakeRuntimeStateOptions) {
    this.options = options;
    this.clock = options.clock ?? systemClock;
    this.events = new EventFeed(options.buffersEvents);
    this.registry = [...(options.registry ?? [])];
    for (const image of options.images ?? [anImage()]) this.images.set(image.id, image);
    for (const sandbox of options.sandboxes ?? []) this.addSandbox(sandbox);
    for (const container of options.containers ?? []) this.addContainer(container);
    for (const type of ['RuntimeReady', 'NetworkReady']) this.conditions.set(type, {type, status: true});
  }

  /** Adds a copy of a sandbox that a builder made. */
  addSandbox(sandbox: SandboxRecord): void {
    this.sandboxes.set(sandbox.id, {...sandbox});
  }

  /** Adds a copy of a container that a builder made, and its sandbox when that isn't there. */
  addContainer({sandbox, ...container}: ContainerWithSandbox): void {
    this.containers.set(container.id, {...container, ended: new AbortController()});
    if (!this.sandboxes.has(sandbox.id)) this.addSandbox(sandbox);
  }

  /** The time in nanoseconds; never the same twice, so that what is created has an order. */
  uniqueNowNanos(): bigint {
    const now = BigInt(Math.round(this.clock.now())) * 1_000_000n;
    this.#lastNanos = now > this.#lastNanos ? now : this.#lastNanos + 1n;
    return this.#lastNanos;
  }

  /** A new id: 64 hex digits, the same at each run. */
  newId(): string {
    this.#ids += 1;
    return hexId(`created ${this.#ids}`);
  }

  /** The next free address of 10.244.0.0/16. */
  newAddress(): string {
    this.#addresses += 1;
    return `10.244.${this.#addresses >> 8}.${this.#addresses & 0xff}`;
  }

  resolveBehaviour(config: ContainerRecord['config'], argv: readonly string[]): ContainerRecord['behaviour'] {
    return this.options.behaviour?.(config, argv) ?? defaultBehaviour(argv);
  }

  resolveExec(
    argv: readonly string[],
    {config, startedAt}: Pick<ContainerRecord, 'config' | 'startedAt'>,
  ): ReturnType<typeof defaultExec> {
    const ranForMs = Number((this.uniqueNowNanos() - startedAt) / 1_000_000n);
    return this.options.exec?.(argv, config, ranForMs) ?? defaultExec(argv);
  }

  /** The sandbox with this id or unambiguous id prefix. Throws a refusal that begins with `failure`. */
  getSandbox(idOrPrefix: string, failure: string): SandboxRecord {
    return lookUp(this.sandboxes, idOrPrefix, failure);
  }

  /** The container with this id or unambiguous id prefix. Throws a refusal that begins with `failure`. */
  getContainer(idOrPrefix: string, failure: string): ContainerRecord {
    return lookUp(this.containers, idOrPrefix, failure);
  }

  /** As `sandbox`, but undefined when there is none: Stop and Remove succeed then. */
  findSandbox(idOrPrefix: string, failure: string): SandboxRecord | undefined {
    return find(this.sandboxes, idOrPrefix, failure);
  }

  findContainer(idOrPrefix: string, failure: string): ContainerRecord | undefined {
    return find(this.containers, idOrPrefix, failure);
  }

  containersOf(sandboxId: string): ContainerRecord[] {
    return [...this.containers.values()].filter((container) => container.sandboxId === sandboxId);
  }
}

function lookUp<T>(records: ReadonlyMap<string, T>, idOrPrefix: string, failure: string): T {
  const record = find(records, idOrPrefix, failure);
  if (record === undefined) throw notFoundError(failure);
  return record;
}

/** containerd's index of id prefixes: the empty prefix and an ambiguous one are errors. */
function find<T>(records: ReadonlyMap<string, T>, idOrPrefix: string, failure: string): T | undefined {
  const exact = records.get(idOrPrefix);
  if (exact !== undefined) return exact;
  if (idOrPrefix === '') throw unknownError(`${failure}: prefix can't be empty`);
  const matches = [...records.keys()].filter((id) => id.startsWith(idOrPrefix));
  if (matches.length > 1)
    throw unknownError(`${failure}: Multiple IDs found with provided prefix: ${idOrPrefix}`);
  const [match] = matches;
  return match === undefined ? undefined : records.get(match);
}

/** What an id in a filter selects: the full id of an unambiguous prefix, else the text itself. */
export function resolveFilterId(records: ReadonlyMap<string, unknown>, idOrPrefix: string): string {
  if (idOrPrefix === '' || records.has(idOrPrefix)) return idOrPrefix;
  const matches = [...records.keys()].filter((id) => id.startsWith(idOrPrefix));
  return matches.length === 1 ? (matches[0] ?? idOrPrefix) : idOrPrefix;
}

/** True when every label of the selector is there. */
export function matchesLabels(
  labels: Readonly<Record<string, string>>,
  selector: Readonly<Record<string, string>>,
): boolean {
  return Object.entries(selector).every(([key, value]) => labels[key] === value);
}

/** How many items a Stream… RPC sends in one message. */
const PAGE_SIZE = 1000;

/** A list in pages, as the Stream… RPCs send it; an empty list is no page at all. */
export function* paginate<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let start = 0; start < items.length; start += PAGE_SIZE) yield items.slice(start, start + PAGE_SIZE);
}
