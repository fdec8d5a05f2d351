import {MANAGER_ANNOTATION} from '../../api/manager-annotation.js';
import type {Pod} from '../../api/types/v1-pod.js';
import type {Clock} from '../../base/clock.js';
import {ConfigError} from '../../base/errors.js';
import {CriError, type Connection} from '../../cri/index.js';
import type {NodeAndRuntime, RuntimePod, RuntimePodReader} from '../../kubelet/index.js';
import type {
  ConnectionContext,
  EnvironmentContext,
  SettingsContext,
  SignalContext,
} from '../../cli/command/contexts.js';
import type {LocalKubelet} from '../../cli/process/context.js';
import type {ListedPod, ShownPod} from './listed-pod.js';
import type {LocalKubeletPods} from './local-kubelet-pods.js';
import {readCommandNode} from '../manifests/read-command-node.js';

/** The pods of the configured or discovered runtime, whichever program created them. */
export class RuntimePods {
  readonly #services: ConnectionContext & EnvironmentContext & SettingsContext & SignalContext;
  #reader: RuntimePodReader | undefined;
  #node: Promise<NodeAndRuntime> | undefined;
  /** Pods of the kubelet of this machine by UID. */
  #ofKubelet: ReadonlyMap<string, Pod> = new Map();
  #withoutSandbox: readonly Pod[] = [];
  #kubelet: LocalKubeletPods | undefined;
  #kubeletHasAnswered = false;

  /** Error of the last read; undefined if it succeeded or without a runtime. */
  failure: CriError | undefined;
  /** True if nothing else knows the pods: the runtime is on a remote node, or one of several. */
  isRequired = false;

  constructor(services: ConnectionContext & EnvironmentContext & SettingsContext & SignalContext) {
    this.#services = services;
  }

  /** Returns the pods of the runtime without their statuses; an empty list without an available runtime. */
  async list(): Promise<readonly RuntimePod[]> {
    this.isRequired = this.#services.isPart || (await this.#isRemote());
    const connection = await this.#connect();
    if (connection === undefined) return [];
    try {
      const pods = await (await this.#open()).list(connection.runtime, this.#services.signal);
      this.failure = undefined;
      await this.#askKubelet(pods);
      return pods;
    } catch (error) {
      this.#setFailure(error);
      return [];
    }
  }

  /** Returns pods that kcri has no record of, with their statuses as far as the runtime knows them. */
  async observe(listed: readonly ListedPod[]): Promise<readonly ShownPod[]> {
    const found = listed.flatMap(({inRuntime}) => inRuntime ?? []);
    if (found.length === 0) return [];
    try {
      this.#node ??= this.#services.connections
        .default()
        .then(async (connection) => await readCommandNode(this.#services, {}, connection));
      const pods = await (await this.#open()).observe(await this.#node, found, this.#services.signal);
      const byUid = new Map(listed.map((each) => [each.uid as string, each]));
      return pods.flatMap((pod) => {
        const own = byUid.get(pod.metadata.uid ?? '');
        return own === undefined ? [] : [{listed: own, pod: this.#fromKubelet(pod)}];
      });
    } catch (error) {
      this.#setFailure(error);
      this.#node = undefined;
      return [];
    }
  }

  /** Pods that only the kubelet of this machine knows, because they have no sandbox yet or no longer. */
  get withoutSandbox(): readonly Pod[] {
    return this.#withoutSandbox;
  }

  /** True if the kubelet of this machine has answered, so that all its pods are known. */
  get kubeletHasAnswered(): boolean {
    return this.#kubeletHasAnswered;
  }

  /** Asks the kubelet of this machine about its pods if some of the runtime look like a kubelet's. */
  async #askKubelet(found: readonly RuntimePod[]): Promise<void> {
    const {localKubelet, clock} = this.#services.context;
    this.#withoutSandbox = [];
    if (localKubelet === undefined) return;
    if (!found.some(({manager}) => manager === 'kubelet') || (await this.#isRemote())) return;
    this.#kubelet ??= await openLocalKubelet(localKubelet, clock, this.#services.signal);
    const pods = await this.#kubelet.read(runtimeStates(found));
    this.#kubeletHasAnswered = pods !== undefined;
    this.#ofKubelet = new Map((pods ?? []).map((pod) => [pod.metadata.uid ?? '', pod]));
    const uids = new Set<string>(found.map(({uid}) => uid));
    const rest = (pods ?? []).filter(({metadata}) => !uids.has(metadata.uid ?? ''));
    // A kubelet without any pod of this runtime uses another runtime.
    const usesRuntime = rest.length < this.#ofKubelet.size;
    this.#withoutSandbox = usesRuntime ? rest.map(asKubeletPod) : [];
  }

  /** Returns a pod as the kubelet knows it, with the runtime's status if the kubelet reports none. */
  #fromKubelet(restored: Pod): Pod {
    const known = this.#ofKubelet.get(restored.metadata.uid ?? '');
    if (known === undefined) return restored;
    const pod = asKubeletPod(known);
    return known.status?.containerStatuses === undefined
      ? {...pod, status: {...known.status, ...restored.status}}
      : pod;
  }

  async #open(): Promise<RuntimePodReader> {
    const {RuntimePodReader: Reader} = await import('../../kubelet/index.js');
    return (this.#reader ??= new Reader());
  }

  /** Connects to the runtime; returns undefined if there is none. */
  async #connect(): Promise<Connection | undefined> {
    try {
      return await this.#services.connections.default();
    } catch (error) {
      this.#services.signal.throwIfAborted();
      if (error instanceof ConfigError && !this.isRequired) return undefined;
      throw error;
    }
  }

  /** Keeps the error of an unavailable runtime; throws other errors. */
  #setFailure(error: unknown): void {
    this.#services.signal.throwIfAborted();
    if (!(error instanceof CriError)) throw error;
    this.failure = error;
  }

  async #isRemote(): Promise<boolean> {
    return (await this.#services.settings.remoteEndpoint()) !== undefined;
  }
}

async function openLocalKubelet(
  localKubelet: LocalKubelet | 'default',
  clock: Clock,
  signal: AbortSignal,
): Promise<LocalKubeletPods> {
  const [{LOCAL_KUBELET, LocalKubeletClient}, {LocalKubeletPods: Pods}] = await Promise.all([
    import('./local-kubelet.js'),
    import('./local-kubelet-pods.js'),
  ]);
  const kubelet = localKubelet === 'default' ? LOCAL_KUBELET : localKubelet;
  return new Pods(new LocalKubeletClient({kubelet, clock, signal}), clock);
}

/** Returns a text that changes with the objects of pods in the runtime and their states. */
export function runtimeStates(found: readonly RuntimePod[]): string {
  return found
    .flatMap(({sandboxes, containers}) => [...sandboxes, ...containers])
    .map(({id, state}) => `${id} ${state}`)
    .toSorted()
    .join();
}

/** Marks a pod as that of a kubelet. */
function asKubeletPod(pod: Pod): Pod {
  const {metadata} = pod;
  return {
    ...pod,
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {...metadata, annotations: {...metadata.annotations, [MANAGER_ANNOTATION]: 'kubelet'}},
  };
}
