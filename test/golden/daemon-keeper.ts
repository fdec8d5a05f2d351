import {mkdir, rename, rm, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {PodStore, type PodEvent} from '../../src/kubelet/index.js';
import type {Kubelet, KubeletOptions} from '../../src/kubelet/kubelet.js';
import {aKubelet} from '../kubelet/daemon/a-kubelet.js';
import {curl, serveApi, type ServedApi} from './kubelet-api.js';
import type {ShownPod} from './canon-pod.js';
import {byName, type Keeper, type KeeperOptions} from './keeper.js';
import {fakeLogger} from '../base/fake-logger.js';

/**
 * Waits that are drawn by lot are nearly as long as they may be: so they were when "pull-missing" and "restart-rules"
 * were recorded, and the others don't depend on it.
 */
const LUCK = 0.99 * 2 ** 32;
/** What the log says of a manifest that is refused, and of an event that should have come. */
const REFUSED = 'Unable to process watch event';
const MISSED = 'Evented PLEG: a relist has found what no event had told of';
/** When a daemon has long removed all that it has to. */
const REMOVED_AFTER_MS = 300_000;
const LOOK_MS = 500;

/** `kcri kubelet` with a directory of manifests. */
export class DaemonKeeper implements Keeper {
  readonly events: PodEvent[] = [];
  readonly refusals: string[] = [];
  left: readonly ShownPod[] = [];
  readonly environment: Readonly<Record<string, string>>;
  readonly #options: KeeperOptions;
  readonly #overrides: Partial<KubeletOptions>;
  readonly #directory: string;
  readonly #apiAddress: string | undefined;
  readonly #files = new Set<string>();
  #kubelet: Kubelet | undefined;
  #api: ServedApi | undefined;
  #end = async (): Promise<void> => undefined;

  /** It serves HTTP when it has an address to serve at. */
  constructor(options: KeeperOptions, overrides: Partial<KubeletOptions>, apiAddress?: string) {
    const {rootDir, podLogsDir} = options.node;
    this.#options = options;
    this.#overrides = overrides;
    this.#apiAddress = apiAddress;
    this.#directory = `${rootDir}-manifests`;
    this.environment = {LOGS: podLogsDir};
  }

  get pods(): readonly Pick<ShownPod, 'pod'>[] {
    return [...this.events, ...this.left];
  }

  async start(): Promise<void> {
    await mkdir(this.#directory, {recursive: true});
    const kubelet = aKubelet({
      ...this.#options,
      manifestsDir: this.#directory,
      eventedPleg: true,
      logger: this.#logger,
      onEvent: (event) => void this.events.push(event),
      overrides: {random: () => LUCK, ...this.#overrides},
    });
    const controller = new AbortController();
    const ended = kubelet.run(controller.signal);
    this.#kubelet = kubelet;
    if (this.#apiAddress !== undefined) this.#api = await serveApi(kubelet, this.#options, this.#apiAddress);
    this.#end = async () => {
      controller.abort();
      await ended;
      await this.#api?.[Symbol.asyncDispose]();
    };
  }

  async stop(): Promise<void> {
    await this.#end();
  }

  async curl(command: string): Promise<void> {
    await curl(command, this.#api?.url ?? '');
  }

  async put(file: string, text: string): Promise<void> {
    const hidden = join(this.#directory, `.${file}`);
    await writeFile(hidden, text);
    await rename(hidden, join(this.#directory, file));
    this.#files.add(file);
  }

  async deleteAll(): Promise<void> {
    const {clock} = this.#options;
    const shown = this.#kubelet?.view.pods() ?? [];
    this.left = byName(shown.map(({status = {}, ...pod}) => ({pod, status})));
    for (const file of this.#files) await rm(join(this.#directory, file));
    const end = clock.now() + REMOVED_AFTER_MS;
    do await clock.sleep(LOOK_MS);
    while ((await this.#isSomethingLeft()) && clock.now() < end);
  }

  async #isSomethingLeft(): Promise<boolean> {
    const {records, gone} = await new PodStore(this.#options.node.rootDir).list();
    return records.length + gone.length > 0;
  }

  readonly #logger = fakeLogger({
    info: (message) => {
      if (message === MISSED) this.refusals.push(message);
    },
    error: (error, message) => {
      if (message === REFUSED) this.refusals.push(String(error).replaceAll(this.#directory, '<MANIFESTS>'));
    },
  });
}
