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
/** Ports of servers in the recorded containers. */
const PORTS = [8080, 8081];
/** Path that is served only after a delay. */
const DELAYED_PATH = '/x';
const DELAY_MS = 4000;
/** File of the first manifest of a case. */
export const FIRST_MANIFEST_FILE = 'pod.yaml';
/** A block device of the recorded node, replaced by one with a major number for local use. */
const BLOCK_DEVICE = '/dev/vda';
const LOCAL_BLOCK_MAJOR = '240';

/** Options of a GoldenTestbed. */
export interface GoldenTestbedOptions {
  readonly golden: GoldenCase;
  readonly scratchDir: string;
  readonly node: NodeFacts;
  readonly clock: Clock;
  readonly fake: FakeRuntime;
  /** Address of every sandbox, one of this machine. */
  readonly podIp: string;
  readonly createDriver: CreatePodDriver;
  /** Base deadline of CRI calls, in ms of real time. */
  readonly callTimeoutMs?: number;
}

const needsKubelet = (verb: string): Error => new ConfigError(`"${verb}" needs a running kubelet`);

/** Runs kcri in place of the kubelet that recorded a case, and performs the external actions. */
export class GoldenTestbed implements AsyncDisposable {
  readonly driver: PodDriver;
  /** Substitutes for node facts, and the original values. */
  readonly substitutes: ReadonlyMap<string, string>;
  readonly #options: GoldenTestbedOptions;
  readonly #connection: Connection;
  /** Servers for hooks and probes, in place of the containers'. */
  readonly #servers = PORTS.map(() =>
    createServer(({url}, response) => {
      response.statusCode = url === DELAYED_PATH && !this.#hasRunFor(DELAY_MS) ? 404 : 200;
      response.end();
    }),
  );

  constructor(options: GoldenTestbedOptions) {
    const {fake, node, clock, golden, scratchDir} = options;
    this.#options = options;
    this.#connection = connect(fake.endpoint, {timeoutMs: options.callTimeoutMs});
    this.driver = options.createDriver({connection: this.#connection, endpoint: fake.endpoint, node, clock});
    const substitute = join(scratchDir, 'vda');
    this.substitutes = new Map(golden.manifest.includes(BLOCK_DEVICE) ? [[substitute, BLOCK_DEVICE]] : []);
  }

  /** Prepares the node for the case, and starts the driver. */
  async prepare(): Promise<void> {
    const {golden, node, podIp} = this.#options;
    for (const substitute of this.substitutes.keys())
      await run('mknod', [substitute, 'b', LOCAL_BLOCK_MAJOR, '0']);
    if (golden.manifest.includes('httpGet'))
      for (const [index, server] of this.#servers.entries()) server.listen(PORTS[index], podIp);
    if (golden.script !== '')
      await run('sh', ['-ec', golden.script], {env: {...process.env, ROOT: node.rootDir}});
    await this.driver.start();
  }

  /** Performs an external action of the recording. Throws ConfigError if the driver does not support it. */
  async perform(verb: string, argument = ''): Promise<void> {
    const action = this.#verbs[verb];
    if (action === undefined) throw needsKubelet(verb);
    await action(argument);
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
    // Only the final state is recorded.
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
      (text, [substitute, real]) => text.replaceAll(real, substitute),
      this.#options.golden.file(file),
    );
  }

  /** Returns whether the first container has run for this time. */
  #hasRunFor(ms: number): boolean {
    const {fake} = this.#options;
    const [first] = fake.containers;
    return first !== undefined && Number(fake.state.uniqueNowNanos() - first.startedAt) >= ms * 1e6;
  }

  #runningContainer(name: string): ContainerRecord {
    const found = this.#options.fake.containers.find(
      ({config, state}) => config.metadata?.name === name && state === 'CONTAINER_RUNNING',
    );
    if (found === undefined) throw new Error(`container "${name}" is not running`);
    return found;
  }

  #readySandbox(): SandboxRecord {
    const found = this.#options.fake.sandboxes.find(({state}) => state === 'SANDBOX_READY');
    if (found === undefined) throw new Error('there is no ready sandbox');
    return found;
  }
}
