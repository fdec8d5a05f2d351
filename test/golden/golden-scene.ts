import {execFile} from 'node:child_process';
import {createServer} from 'node:http';
import {join} from 'node:path';
import {promisify} from 'node:util';
import type {Clock} from '../../src/base/clock.js';
import {ConfigError} from '../../src/base/errors.js';
import {connect, podSandboxId, type Connection} from '../../src/cri/index.js';
import type {NodeFacts} from '../../src/kubelet/contract/node-facts.js';
import type {ContainerRecord, SandboxRecord} from '../fakes/runtime/runtime-records.js';
import type {FakeRuntime} from '../fakes/fake-runtime.js';
import type {GoldenCase} from './golden-cases.js';
import type {PodDriver, CreatePodDriver} from './drivers/pod-driver.js';

const run = promisify(execFile);

const SIGKILLED = 137;
/** Where the containers of the recorded cases serve. */
const PORTS = [8080, 8081];
/** What is served at a path that has to be made first, and how long that takes. */
const LATE_PATH = '/x';
const LATE_MS = 4000;
/** The manifest that a case begins with. */
export const FIRST_MANIFEST_FILE = 'pod.yaml';
/** A block device of the node, whatever the machine has: of a driver number for local use. */
const BLOCK_DEVICE = '/dev/vda';
const LOCAL_BLOCK_MAJOR = '240';

/** Where a case is played. */
export interface GoldenSceneOptions {
  readonly golden: GoldenCase;
  readonly scratchDir: string;
  readonly node: NodeFacts;
  readonly clock: Clock;
  readonly fake: FakeRuntime;
  /** The address of every sandbox: this machine answers at it. */
  readonly podIp: string;
  readonly createDriver: CreatePodDriver;
}

const needsKubelet = (verb: string): Error =>
  new ConfigError(`"${verb}" needs a running kubelet, which kcri sync is not`);

/** kcri in the place of the kubelet that a case was recorded from, and what is done to it. */
export class GoldenScene implements AsyncDisposable {
  readonly driver: PodDriver;
  /** What stands in for something of the node, and what it stands for. */
  readonly substitutes: ReadonlyMap<string, string>;
  readonly #options: GoldenSceneOptions;
  readonly #connection: Connection;
  /** In the place of what containers serve to hooks and probes. */
  readonly #servers = PORTS.map(() =>
    createServer(({url}, response) => {
      response.statusCode = url === LATE_PATH && !this.#isLong(LATE_MS) ? 404 : 200;
      response.end();
    }),
  );

  constructor(options: GoldenSceneOptions) {
    const {fake, node, clock, golden, scratchDir} = options;
    this.#options = options;
    this.#connection = connect(fake.endpoint);
    this.driver = options.createDriver({connection: this.#connection, endpoint: fake.endpoint, node, clock});
    const double = join(scratchDir, 'vda');
    this.substitutes = new Map(golden.manifest.includes(BLOCK_DEVICE) ? [[double, BLOCK_DEVICE]] : []);
  }

  /** Makes on the node what the case needs there, and starts what keeps its pods. */
  async prepare(): Promise<void> {
    const {golden, node, podIp} = this.#options;
    for (const double of this.substitutes.keys()) await run('mknod', [double, 'b', LOCAL_BLOCK_MAJOR, '0']);
    if (golden.manifest.includes('httpGet'))
      for (const [index, server] of this.#servers.entries()) server.listen(PORTS[index], podIp);
    if (golden.script !== '')
      await run('sh', ['-ec', golden.script], {env: {...process.env, ROOT: node.rootDir}});
    await this.driver.start();
  }

  /** Does what was done from outside while the case was recorded. Throws ConfigError for what can't be done here. */
  async perform(verb: string, argument = ''): Promise<void> {
    const act = this.#verbs[verb];
    if (act === undefined) throw needsKubelet(verb);
    await act(argument);
  }

  readonly #verbs: Readonly<Record<string, (argument: string) => void | Promise<void>>> = {
    add: (file) => this.driver.putManifest(file, this.#text(file)),
    update: (file) => this.driver.putManifest(FIRST_MANIFEST_FILE, this.#text(file)),
    delete: () => this.driver.deleteManifests(),
    kill: (name) => {
      this.#options.fake.exitContainer(this.#runningContainer(name).id, SIGKILLED);
    },
    'kill-sandbox': () => {
      this.#options.fake.exitSandbox(this.#readySandbox().id);
    },
    'rm-sandbox': async () => {
      const {id} = this.#readySandbox();
      await this.#connection.runtime.stopPodSandbox({podSandboxId: podSandboxId(id)});
    },
    'stop-kubelet': () => this.driver.stop(),
    'start-kubelet': () => this.driver.start(),
    'restart-kubelet': async () => {
      await this.driver.stop();
      await this.driver.start();
    },
    sh: async (command) => {
      const {shellEnvironment} = this.driver;
      if (shellEnvironment === undefined) throw needsKubelet('sh');
      if (command.startsWith('curl ')) await this.driver.curl?.(command);
      else await run('sh', ['-c', command], {env: {...process.env, ...shellEnvironment}});
    },
    // What it shows is in no recording but of the end.
    snapshot: () => undefined,
  };

  async [Symbol.asyncDispose](): Promise<void> {
    await this.driver.stop();
    this.#connection.close();
    for (const server of this.#servers) {
      server.close();
      server.closeAllConnections();
    }
  }

  #text(file: string): string {
    return [...this.substitutes].reduce(
      (text, [double, real]) => text.replaceAll(real, double),
      this.#options.golden.file(file),
    );
  }

  /** Whether the first container has run for so long. */
  #isLong(ms: number): boolean {
    const {fake} = this.#options;
    const [first] = fake.containers;
    return first !== undefined && Number(fake.state.uniqueNowNanos() - first.startedAt) >= ms * 1e6;
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
