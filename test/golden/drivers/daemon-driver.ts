import {mkdir, rename, rm, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {PodStore, type PodEvent} from '../../../src/kubelet/index.js';
import type {Kubelet} from '../../../src/kubelet/daemon/kubelet.js';
import type {KubeletOptions} from '../../../src/kubelet/daemon/kubelet-options.js';
import {createTestKubelet} from '../../kubelet/daemon/create-test-kubelet.js';
import {runCurlCommand, serveKubeletApi, type KubeletApiServer} from './serve-kubelet-api.js';
import type {PodWithStatus} from '../canonical/canonical-pods.js';
import {sortPodsByName, type PodDriver, type PodDriverOptions} from './pod-driver.js';
import {fakeLogger} from '../../base/fake-logger.js';

/** Log messages about a rejected manifest and about a missed event. */
const REJECTED = 'Unable to process watch event';
const MISSED = 'Evented PLEG: Relist found a change missed by events';
/** Time after which a daemon has removed everything. */
const REMOVED_AFTER_MS = 300_000;
const POLL_INTERVAL_MS = 500;

/** Returns the manifest directory of the kubelet with this root directory. */
export const manifestsDirOf = (rootDir: string): string => `${rootDir}-manifests`;

/** Runs `kcri kubelet` with a manifest directory. */
export class DaemonDriver implements PodDriver {
  readonly events: PodEvent[] = [];
  readonly rejections: string[] = [];
  podsBeforeDeletion: readonly PodWithStatus[] = [];
  readonly shellEnvironment: Readonly<Record<string, string>>;
  readonly #options: PodDriverOptions;
  readonly #overrides: Partial<KubeletOptions>;
  readonly #directory: string;
  readonly #apiAddress: string | undefined;
  readonly #files = new Set<string>();
  #kubelet: Kubelet | undefined;
  #api: KubeletApiServer | undefined;
  #end = async (): Promise<void> => undefined;

  /** The HTTP server is started only if `apiAddress` is given. */
  constructor(options: PodDriverOptions, overrides: Partial<KubeletOptions>, apiAddress?: string) {
    const {rootDir, podLogsDir} = options.node;
    this.#options = options;
    this.#overrides = overrides;
    this.#apiAddress = apiAddress;
    this.#directory = manifestsDirOf(rootDir);
    this.shellEnvironment = {LOGS: podLogsDir};
  }

  get pods(): readonly Pick<PodWithStatus, 'pod'>[] {
    return [...this.events, ...this.podsBeforeDeletion];
  }

  /** The pods by name. */
  get podsNow(): readonly PodWithStatus[] {
    const shown = this.#kubelet?.view.pods() ?? [];
    return sortPodsByName(shown.map(({status = {}, ...pod}) => ({pod, status})));
  }

  async start(): Promise<void> {
    await mkdir(this.#directory, {recursive: true});
    const kubelet = createTestKubelet({
      ...this.#options,
      manifestsDir: this.#directory,
      eventedPleg: true,
      logger: this.#logger,
      onEvent: (event) => void this.events.push(event),
      overrides: this.#overrides,
    });
    const controller = new AbortController();
    const exited = kubelet.run(controller.signal);
    this.#kubelet = kubelet;
    if (this.#apiAddress !== undefined)
      this.#api = await serveKubeletApi(kubelet, this.#options, this.#apiAddress);
    this.#end = async () => {
      controller.abort();
      await exited;
      await this.#api?.[Symbol.asyncDispose]();
    };
  }

  async stop(): Promise<void> {
    await this.#end();
  }

  async curl(command: string): Promise<void> {
    await runCurlCommand(command, this.#api?.url ?? '');
  }

  async putManifest(file: string, text: string): Promise<void> {
    const hidden = join(this.#directory, `.${file}`);
    await writeFile(hidden, text);
    await rename(hidden, join(this.#directory, file));
    this.#files.add(file);
  }

  async deleteManifests(): Promise<void> {
    const {clock} = this.#options;
    this.podsBeforeDeletion = this.podsNow;
    for (const file of this.#files) await rm(join(this.#directory, file));
    const end = clock.now() + REMOVED_AFTER_MS;
    do await clock.sleep(POLL_INTERVAL_MS);
    while ((await this.#isSomethingLeft()) && clock.now() < end);
  }

  async #isSomethingLeft(): Promise<boolean> {
    const {records, removed} = await new PodStore(this.#options.node.rootDir).list();
    return records.length + removed.length > 0;
  }

  readonly #logger = fakeLogger({
    info: (message) => {
      if (message === MISSED) this.rejections.push(message);
    },
    error: (error, message) => {
      if (message === REJECTED)
        this.rejections.push(String(error).replaceAll(this.#directory, '<MANIFESTS>'));
    },
  });
}
