import {execFile} from 'node:child_process';
import {createServer} from 'node:http';
import {join} from 'node:path';
import {Readable} from 'node:stream';
import {promisify} from 'node:util';
import type {PodStatus} from '../../src/api/v1-status.js';
import type {Clock} from '../../src/base/clock.js';
import {ConfigError} from '../../src/base/errors.js';
import {connect, podSandboxId, type Connection, type PodUid} from '../../src/cri/index.js';
import type {NodeFacts} from '../../src/kubelet/container/node.js';
import {
  openLocalPods,
  podRef,
  preparePods,
  SILENT_OBSERVER,
  syncPodUntil,
  type LocalPods,
  type PodEvent,
  type PreparedPod,
} from '../../src/kubelet/index.js';
import {readManifests} from '../../src/operations/read-manifests.js';
import type {ContainerRecord, SandboxRecord} from '../fakes/records.js';
import type {FakeRuntime} from '../fakes/fake-runtime.js';
import type {ShownPod} from './canon-pod.js';
import type {GoldenCase} from './cases.js';

const run = promisify(execFile);

/** Longer than any case takes: kcri tries again what fails, as a kubelet does. */
const NO_END_MS = 24 * 3600 * 1000;
const SIGKILLED = 137;
const HTTP_PORT = 8080;
/** The manifest that a case begins with. */
export const FIRST_FILE = 'pod.yaml';
/** A block device of the node, whatever the machine has: of a driver number for local use. */
const BLOCK_DEVICE = '/dev/vda';
const LOCAL_BLOCK_MAJOR = '240';

/** Where a case is played. */
export interface SceneOptions {
  readonly golden: GoldenCase;
  readonly scratchDir: string;
  readonly node: NodeFacts;
  readonly clock: Clock;
  readonly fake: FakeRuntime;
  /** The address of every sandbox: this machine answers at it. */
  readonly podIp: string;
}

/** A manifest's pod while kcri syncs it. */
interface RunningSync {
  readonly request: PreparedPod;
  readonly stop: () => Promise<void>;
}

/** kcri in the place of the kubelet that a case was recorded from, and what is done to it. */
export class GoldenScene implements AsyncDisposable {
  readonly events: PodEvent[] = [];
  /** Every status of every pod, in their order. */
  readonly shown: ShownPod[] = [];
  /** The UIDs of the pods whose manifests have gone. */
  #left: readonly PodUid[] = [];
  /** What stands in for something of the node, and what it stands for. */
  readonly doubles: ReadonlyMap<string, string>;
  readonly #options: SceneOptions;
  readonly #connection: Connection;
  /** In the place of what containers serve to hooks. */
  readonly #server = createServer((_, response) => response.end());
  readonly #syncs = new Map<string, RunningSync>();
  #pods: LocalPods;

  constructor(options: SceneOptions) {
    this.#options = options;
    this.#connection = connect(options.fake.endpoint);
    this.#pods = this.#open();
    const double = join(options.scratchDir, 'vda');
    this.doubles = new Map(options.golden.manifest.includes(BLOCK_DEVICE) ? [[double, BLOCK_DEVICE]] : []);
  }

  /** Makes on the node what the case needs there. */
  async prepare(): Promise<void> {
    const {golden, node, podIp} = this.#options;
    for (const double of this.doubles.keys()) await run('mknod', [double, 'b', LOCAL_BLOCK_MAJOR, '0']);
    if (golden.manifest.includes('httpGet')) this.#server.listen(HTTP_PORT, podIp);
    if (golden.script !== '')
      await run('sh', ['-ec', golden.script], {env: {...process.env, ROOT: node.rootDir}});
  }

  /** Does what was done from outside while the case was recorded. Throws ConfigError for what can't be done here. */
  async act(verb: string, argument = ''): Promise<void> {
    const act = this.#verbs[verb];
    if (act === undefined)
      throw new ConfigError(`"${verb}" needs more of a kubelet than kcri has in the foreground`);
    await act(argument);
  }

  readonly #verbs: Readonly<Record<string, (argument: string) => void | Promise<void>>> = {
    add: (file) => this.#start(file),
    update: async (file) => {
      await this.#syncs.get(FIRST_FILE)?.stop();
      await this.#start(file, FIRST_FILE);
    },
    delete: () => this.#delete(),
    kill: (name) => {
      this.#options.fake.exitContainer(this.#runningContainer(name).id, SIGKILLED);
    },
    'kill-sandbox': () => {
      const dead = {state: 'SANDBOX_NOTREADY', ips: []} satisfies Partial<SandboxRecord>;
      Object.assign(this.#readySandbox(), dead);
    },
    'rm-sandbox': async () => {
      const {id} = this.#readySandbox();
      await this.#connection.runtime.stopPodSandbox({podSandboxId: podSandboxId(id)});
    },
    'stop-kubelet': () => this.#stopAll(),
    'start-kubelet': async () => {
      this.#pods = this.#open();
      for (const file of [...this.#syncs.keys()]) await this.#start(file);
    },
    // What it shows is in no recording but of the end.
    snapshot: () => undefined,
  };

  /** The pods just before their manifests went, by name. */
  get left(): readonly ShownPod[] {
    return this.#left
      .flatMap((uid) => this.shown.findLast(({pod}) => podRef(pod).uid === uid) ?? [])
      .toSorted((a, b) => (podRef(a.pod).name < podRef(b.pod).name ? -1 : 1));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stopAll();
    this.#connection.close();
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #stopAll(): Promise<void> {
    await Promise.all([...this.#syncs.values()].map(({stop}) => stop()));
  }

  #open(): LocalPods {
    const {node, clock, fake} = this.#options;
    const {runtime, images} = this.#connection;
    return openLocalPods(
      {services: {runtime, images}, endpoint: fake.endpoint, node, runtimeName: 'containerd', clock},
      {...SILENT_OBSERVER, event: (event) => void this.events.push(event)},
    );
  }

  async #start(source: string, file = source): Promise<void> {
    const {golden, node, clock} = this.#options;
    const text = [...this.doubles].reduce(
      (text, [double, real]) => text.replaceAll(real, double),
      golden.file(source),
    );
    const {pods} = await readManifests([{file, text}], {
      stdin: Readable.from([]),
      lenient: true,
      signal: new AbortController().signal,
    });
    // The kubelet reads a file's first object and no other.
    const [request] = preparePods(pods.slice(0, 1), {
      static: true,
      nodeName: node.nodeName,
      seenAtMs: clock.now(),
    });
    if (request !== undefined) this.#sync(file, request);
  }

  /** Keeps the pod synced until it is stopped or has ended. */
  #sync(file: string, request: PreparedPod): void {
    const {clock} = this.#options;
    const controller = new AbortController();
    const options = {
      wait: 'complete',
      timeoutMs: NO_END_MS,
      clock,
      onStatus: (_: unknown, status: PodStatus) => void this.shown.push({pod: request.pod, status}),
    } as const;
    const ended = syncPodUntil(this.#pods, request, options, controller.signal);
    const stop = async (): Promise<void> => {
      controller.abort();
      const outcome = await ended;
      if (outcome.kind === 'failed') throw outcome.error;
    };
    this.#syncs.set(file, {request, stop});
  }

  /** The manifests go, all at once. */
  async #delete(): Promise<void> {
    await this.#stopAll();
    const uids = [...this.#syncs.values()].map(({request}) => podRef(request.pod).uid);
    this.#left = uids;
    await Promise.all(
      uids.map(async (uid) => {
        const record = await this.#pods.store.get(uid);
        if (record !== undefined) await this.#pods.end(record);
      }),
    );
    this.#syncs.clear();
  }

  #runningContainer(name: string): ContainerRecord {
    const found = this.#options.fake.containers.find(
      ({config, state}) => config.metadata?.name === name && state === 'CONTAINER_RUNNING',
    );
    if (found === undefined) throw new Error(`no container "${name}" is running`);
    return found;
  }

  #readySandbox(): SandboxRecord {
    const found = this.#options.fake.sandboxes.find(({state}) => state === 'SANDBOX_READY');
    if (found === undefined) throw new Error('no sandbox is ready');
    return found;
  }
}
