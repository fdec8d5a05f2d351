import {ConfigError} from '../../base/errors.js';
import {CriError, type Connection} from '../../cri/index.js';
import type {NodeAndRuntime, RuntimePod, RuntimePodReader} from '../../kubelet/index.js';
import type {CommandServices} from '../command/command-services.js';
import type {ListedPod, ShownPod} from './listed-pod.js';
import {readCommandNode} from './read-command-node.js';

/** The pods of the configured or discovered runtime, whichever program created them. */
export class RuntimePods {
  readonly #services: CommandServices;
  #reader: RuntimePodReader | undefined;
  #node: Promise<NodeAndRuntime> | undefined;

  /** Error of the last read; undefined if it succeeded or if there is no runtime. */
  failure: CriError | undefined;

  constructor(services: CommandServices) {
    this.#services = services;
  }

  /** Returns the pods of the runtime without their statuses; none if it is unavailable or if there is no runtime. */
  async list(): Promise<readonly RuntimePod[]> {
    const connection = await this.#connect();
    if (connection === undefined) return [];
    try {
      const pods = await (await this.#open()).list(connection.runtime, this.#services.signal);
      this.failure = undefined;
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
        return own === undefined ? [] : [{listed: own, pod}];
      });
    } catch (error) {
      this.#setFailure(error);
      this.#node = undefined;
      return [];
    }
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
      if (error instanceof ConfigError) return undefined;
      throw error;
    }
  }

  /** Keeps the error of an unavailable runtime; throws other errors. */
  #setFailure(error: unknown): void {
    this.#services.signal.throwIfAborted();
    if (!(error instanceof CriError)) throw error;
    this.failure = error;
  }
}
