import {Readable} from 'node:stream';
import type {PodStatus} from '../../../src/api/types/v1-status.js';
import {
  openPodRegistry,
  podRef,
  preparePods,
  SILENT_OBSERVER,
  syncPods,
  type PodRegistry,
  type PodEvent,
  type PreparedPod,
} from '../../../src/kubelet/index.js';
import {readManifests} from '../../../src/operations/manifests/read-manifests.js';
import type {PodWithStatus} from '../canonical/canonical-pods.js';
import {JITTER, sortPodsByName, type PodDriver, type PodDriverOptions} from './pod-driver.js';

/** A timeout longer than any case: with it kcri retries failures, like a kubelet. */
const NO_END_MS = 24 * 3600 * 1000;

/** A running sync of a manifest's pod. */
interface RunningSync {
  readonly request: PreparedPod;
  readonly stop: () => Promise<void>;
}

/** Runs `kcri sync` for each manifest, and `kcri delete`. Rejected manifests throw. */
export class ForegroundDriver implements PodDriver {
  readonly events: PodEvent[] = [];
  /** Every status of every pod, in order. */
  readonly pods: PodWithStatus[] = [];
  readonly rejections = [];
  podsBeforeDeletion: readonly PodWithStatus[] = [];
  readonly #options: PodDriverOptions;
  readonly #texts = new Map<string, string>();
  readonly #syncs = new Map<string, RunningSync>();
  #local: PodRegistry;

  constructor(options: PodDriverOptions) {
    this.#options = options;
    this.#local = this.#open();
  }

  async start(): Promise<void> {
    this.#local = this.#open();
    for (const file of this.#texts.keys()) await this.#begin(file);
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#syncs.values()].map(({stop}) => stop()));
  }

  async putManifest(file: string, text: string): Promise<void> {
    await this.#syncs.get(file)?.stop();
    this.#texts.set(file, text);
    await this.#begin(file);
  }

  async deleteManifests(): Promise<void> {
    await this.stop();
    const uids = [...this.#syncs.values()].map(({request}) => podRef(request.pod).uid);
    this.podsBeforeDeletion = sortPodsByName(
      uids.flatMap((uid) => this.pods.findLast(({pod}) => podRef(pod).uid === uid) ?? []),
    );
    await Promise.all(
      uids.map(async (uid) => {
        const record = await this.#local.store.get(uid);
        if (record !== undefined) await this.#local.remover.deletePod(record);
      }),
    );
    this.#syncs.clear();
  }

  #open(): PodRegistry {
    const {node, clock, endpoint, connection} = this.#options;
    const {runtime, images} = connection;
    return openPodRegistry(
      {services: {runtime, images}, endpoint, node, runtimeName: 'containerd', clock},
      {...SILENT_OBSERVER, event: (event) => void this.events.push(event)},
    );
  }

  async #begin(file: string): Promise<void> {
    const {node, clock} = this.#options;
    const {pods} = await readManifests([{file, text: this.#texts.get(file) ?? ''}], {
      stdin: Readable.from([]),
      lenient: true,
      signal: new AbortController().signal,
    });
    // The kubelet reads only the first object of a file.
    const [request] = preparePods(pods.slice(0, 1), {
      static: true,
      nodeName: node.nodeName,
      seenAtMs: clock.now(),
    });
    if (request !== undefined) this.#sync(file, request);
  }

  /** Syncs the pod until it is stopped or terminates. */
  #sync(file: string, request: PreparedPod): void {
    const {clock, connection} = this.#options;
    const controller = new AbortController();
    const options = {
      runtime: connection.runtime,
      wait: 'complete',
      timeoutMs: NO_END_MS,
      clock,
      random: () => JITTER,
      onStatus: (_: unknown, status: PodStatus) => void this.pods.push({pod: request.pod, status}),
    } as const;
    const finished = syncPods(this.#local, [request], options, controller.signal);
    const stop = async (): Promise<void> => {
      controller.abort();
      const [result] = await finished;
      if (result?.kind === 'failed') throw result.error;
    };
    this.#syncs.set(file, {request, stop});
  }
}
