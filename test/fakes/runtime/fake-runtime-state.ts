import {systemClock, type Clock} from '../../../src/base/clock.js';
import {
  defaultBehaviour,
  defaultExec,
  type ResolveBehaviour,
  type ResolveExec,
} from './container-behaviour.js';
import {anImage, hexId, type ContainerWithSandbox} from '../runtime-builders.js';
import {EventFeed} from './event-feed.js';
import {unknownError} from './grpc-status-error.js';
import {FAKE} from './profiles/containerd-profiles.js';
import {PROFILES, type ProfileName} from './profiles/profiles.js';
import type {RuntimeProfile} from './profiles/runtime-profile.js';
import type {ContainerRecord, ImageRecord, SandboxRecord} from './runtime-records.js';
import type {DeepPartial, Message} from './cri-messages.js';

/** Initial state and options of a fake runtime. */
export interface FakeRuntimeStateOptions {
  /** Pulled images, by default busybox. */
  readonly images?: readonly ImageRecord[] | undefined;
  /** Images that PullImage can pull. */
  readonly registry?: readonly ImageRecord[] | undefined;
  readonly sandboxes?: readonly SandboxRecord[] | undefined;
  /** Containers. Their sandboxes are added if they are not in `sandboxes`. */
  readonly containers?: readonly ContainerWithSandbox[] | undefined;
  readonly behaviour?: ResolveBehaviour | undefined;
  readonly exec?: ResolveExec | undefined;
  readonly clock?: Clock | undefined;
  /** Supplemental groups of container processes, by default those of busybox's root. */
  readonly supplementalGroups?: readonly string[] | undefined;
  /** Addresses of all sandboxes, by default the next free address of 10.244.0.0/16. */
  readonly podIps?: readonly string[] | undefined;
  /** Runtime to imitate, by default containerd's code with all RPCs. */
  readonly profile?: ProfileName | undefined;
  readonly runtimeName?: string | undefined;
  readonly runtimeVersion?: string | undefined;
  /** Values of the configuration in the verbose status. */
  readonly runtimeConfig?: object | undefined;
  readonly cgroupDriver?: Message<'LinuxRuntimeConfiguration'>['cgroupDriver'] | undefined;
  /** Names of runtime handlers accepted by RunPodSandbox, in addition to the empty one. */
  readonly runtimeHandlers?: readonly string[] | undefined;
  /** True if handlers support user namespaces; default true. */
  readonly userNamespaces?: boolean | undefined;
  /** True if events without listeners are delivered to the next listener; by default that of the profile. */
  readonly buffersEvents?: boolean | undefined;
  /** True if lists of containers and sandboxes ignore filters, which the CRI permits. */
  readonly ignoresFilters?: boolean | undefined;
  /** Base URL returned by Exec, Attach and PortForward, which are UNIMPLEMENTED without it. */
  readonly streamingUrl?: string | undefined;
}

/** State of the fake runtime, which survives a crash like a real runtime's store. */
export class FakeRuntimeState {
  readonly sandboxes = new Map<string, SandboxRecord>();
  readonly containers = new Map<string, ContainerRecord>();
  /** Images by ID. */
  readonly images = new Map<string, ImageRecord>();
  readonly registry: ImageRecord[];
  readonly events: EventFeed<DeepPartial<Message<'ContainerEventResponse'>>>;
  readonly conditions = new Map<string, DeepPartial<Message<'RuntimeCondition'>>>();
  /** Aborts when the fake is disposed of, which ends all containers. */
  readonly disposed = new AbortController();
  readonly options: FakeRuntimeStateOptions;
  readonly profile: RuntimeProfile;
  readonly clock: Clock;
  #lastNanos = 0n;
  #ids = 0;
  #addresses = 1;

  constructor(options: FakeRuntimeStateOptions) {
    this.options = options;
    this.clock = options.clock ?? systemClock;
    this.profile = options.profile === undefined ? FAKE : PROFILES[options.profile];
    this.events = new EventFeed(options.buffersEvents ?? this.profile.buffersEvents);
    this.registry = (options.registry ?? []).map((image) => this.#adapted(image));
    for (const image of options.images ?? [anImage()]) this.addImage(image);
    for (const sandbox of options.sandboxes ?? []) this.addSandbox(sandbox);
    for (const container of options.containers ?? []) this.addContainer(container);
    for (const type of ['RuntimeReady', 'NetworkReady']) this.conditions.set(type, {type, status: true});
  }

  /** Adds a copy of a sandbox from a builder. */
  addSandbox(sandbox: SandboxRecord): void {
    this.sandboxes.set(sandbox.id, {...sandbox});
  }

  /** Adds an image from a builder. */
  addImage(image: ImageRecord): void {
    const adapted = this.#adapted(image);
    this.images.set(adapted.id, adapted);
  }

  /** Adds an image from a builder to the registry. */
  publishImage(image: ImageRecord): void {
    this.registry.push(this.#adapted(image));
  }

  /** Returns the image as the imitated runtime knows it. */
  #adapted(image: ImageRecord): ImageRecord {
    return {...image, id: this.profile.imageId(image.id), pinned: image.pinned && this.profile.pinsImages};
  }

  /** Adds a copy of a container from a builder, and its sandbox if it is missing. */
  addContainer({sandbox, ...container}: ContainerWithSandbox): void {
    const imageId = this.profile.imageId(container.imageId);
    this.containers.set(container.id, {...container, imageId, ended: new AbortController()});
    if (!this.sandboxes.has(sandbox.id)) this.addSandbox(sandbox);
  }

  /** Returns the time in nanoseconds, unique per call so that creation times are ordered. */
  uniqueNowNanos(): bigint {
    const now = BigInt(Math.round(this.clock.now())) * 1_000_000n;
    this.#lastNanos = now > this.#lastNanos ? now : this.#lastNanos + 1n;
    return this.#lastNanos;
  }

  /** Returns a new ID of 64 hex digits, the same in each run. */
  newId(): string {
    this.#ids += 1;
    return hexId(`created ${this.#ids}`);
  }

  /** Returns the next free address of 10.244.0.0/16. */
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

  /** Returns the sandbox with this ID or unambiguous prefix. Throws the profile's error, `failure` for containerd. */
  getSandbox(idOrPrefix: string, failure: string): SandboxRecord {
    const sandbox = find(this.sandboxes, idOrPrefix, failure);
    if (sandbox === undefined) throw this.profile.notFound('sandbox', idOrPrefix, failure);
    return sandbox;
  }

  /** Returns the container with this ID or unambiguous prefix. Throws the profile's error, `failure` for containerd. */
  getContainer(idOrPrefix: string, failure: string): ContainerRecord {
    const container = find(this.containers, idOrPrefix, failure);
    if (container === undefined) throw this.profile.notFound('container', idOrPrefix, failure);
    return container;
  }

  /** Returns a sandbox like `sandbox`, or undefined if it does not exist: Stop and Remove succeed then. */
  findSandbox(idOrPrefix: string, failure: string): SandboxRecord | undefined {
    return find(this.sandboxes, idOrPrefix, failure);
  }

  findContainer(idOrPrefix: string, failure: string): ContainerRecord | undefined {
    return find(this.containers, idOrPrefix, failure);
  }

  /** Returns the full ID of a sandbox for the text in a filter, or the text itself. */
  resolveSandboxFilter(idOrPrefix = ''): string {
    return this.profile.findsSandboxPrefix ? resolveFilterId(this.sandboxes, idOrPrefix) : idOrPrefix;
  }

  containersOf(sandboxId: string): ContainerRecord[] {
    return [...this.containers.values()].filter((container) => container.sandboxId === sandboxId);
  }
}

/** Finds an ID by prefix like containerd's index: the empty prefix and an ambiguous one are errors. */
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

/** Returns the full ID for an unambiguous prefix in a filter, or the text unchanged. */
export function resolveFilterId(records: ReadonlyMap<string, unknown>, idOrPrefix: string): string {
  if (idOrPrefix === '' || records.has(idOrPrefix)) return idOrPrefix;
  const matches = [...records.keys()].filter((id) => id.startsWith(idOrPrefix));
  return matches.length === 1 ? (matches[0] ?? idOrPrefix) : idOrPrefix;
}

/** Returns whether all labels of the selector match. */
export function matchesLabels(
  labels: Readonly<Record<string, string>>,
  selector: Readonly<Record<string, string>>,
): boolean {
  return Object.entries(selector).every(([key, value]) => labels[key] === value);
}

/** Number of items per message of a streaming list RPC. */
const PAGE_SIZE = 1000;

/** Splits a list into the pages of a streaming list RPC. An empty list has no pages. */
export function* paginate<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let start = 0; start < items.length; start += PAGE_SIZE) yield items.slice(start, start + PAGE_SIZE);
}
