import type {ChildProcess} from 'node:child_process';
import {mkdir, mkdtemp, readdir, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {FakeApiServer} from '../../fakes/api-server/fake-api-server.js';
import {FakeClock} from '../../fakes/fake-clock.js';
import {FakeRuntime, type FakeRuntimeOptions} from '../../fakes/fake-runtime.js';
import {leaveRecordedNode, type LeftNode} from '../../golden/handover/left-node.js';
import {
  changedPods,
  changingCalls,
  lostMirrorPods,
  RECORDED_NODE,
  runningIds,
  storeRecordedPods,
  takeoverTimeMs,
} from '../../golden/handover/recorded-takeover.js';
import {ClusterTestbed} from '../../kubelet/cluster/cluster-testbed.js';
import {listMounts} from '../end-state.js';
import {StepProcess} from '../step-process.js';
import type {TakeoverProcessOptions} from './takeover-process.js';

/** Result of a takeover whose kubelet was killed. */
export interface KilledTakeover {
  /** All steps of the takeover; undefined if the kubelet was killed before its end. */
  readonly steps: readonly string[] | undefined;
  /** Step before which it was killed. */
  readonly killedBefore: string | undefined;
  /** Differences from a takeover by one kubelet. */
  readonly violations: readonly string[];
}

const SETTLE_MS = 3000;
/** What changes without a restart: a crashing container alternates between terminated and waiting. */
const ALTERNATING = /^containerStatuses\[c\]\.(?:state|lastState)\b/;

/**
 * Takes over the recorded node with a process that is killed before a step, then with another kubelet, and checks that no
 * container restarted, no status changed and nothing exists twice.
 */
export async function killTakeover(step: number, startProcess: () => ChildProcess): Promise<KilledTakeover> {
  const directory = await mkdtemp(join(tmpdir(), 'kcri-takeover-'));
  const node = await leaveRecordedNode(directory);
  try {
    await using api = await FakeApiServer.start();
    storeRecordedPods(api, node);
    return await new TakeoverPlay(node, directory, api).play(step, startProcess());
  } finally {
    node.unmount();
    await rm(directory, {recursive: true, maxRetries: 20});
  }
}

class TakeoverPlay {
  readonly #node: LeftNode;
  readonly #directory: string;
  readonly #api: FakeApiServer;
  readonly #violations: string[] = [];

  constructor(node: LeftNode, directory: string, api: FakeApiServer) {
    this.#node = node;
    this.#directory = directory;
    this.#api = api;
  }

  async play(step: number, child: ChildProcess): Promise<KilledTakeover> {
    await this.#putManifests();
    const {left, ...killed} = await this.#playKilled(step, child);
    await this.#playSuccessor(left);
    return {...killed, violations: this.#violations};
  }

  get #manifestsDir(): string {
    return join(this.#directory, 'manifests');
  }

  get #socketPath(): string {
    return join(this.#directory, 'cri.sock');
  }

  async #putManifests(): Promise<void> {
    await mkdir(this.#manifestsDir);
    for (const [file, text] of Object.entries(this.#node.manifests))
      await writeFile(join(this.#manifestsDir, file), text);
  }

  /** Returns the steps of the process, and the runtime as it leaves it. */
  async #playKilled(
    step: number,
    child: ChildProcess,
  ): Promise<Omit<KilledTakeover, 'violations'> & {readonly left: FakeRuntimeOptions}> {
    const {rootDir, logsDir, runtime, pods} = this.#node;
    const nowMs = takeoverTimeMs(this.#node);
    const fake = await FakeRuntime.start({
      ...runtime,
      socketPath: this.#socketPath,
      clock: new FakeClock({nowMs}),
    });
    const options: TakeoverProcessOptions = {
      ...{endpoint: fake.endpoint, apiUrl: this.#api.url, rootDir, podLogsDir: logsDir},
      ...{manifestsDir: this.#manifestsDir, nowMs, pods: pods.length, step},
    };
    const kubelet = new StepProcess(child, options);
    await kubelet.ended;
    if (kubelet.signal !== 'SIGKILL') this.#violations.push('the kubelet ended by itself');
    this.#violations.push(...changingCalls(fake).map((method) => `${method} of the killed kubelet`));
    await fake.stop();
    const {sentSteps: steps, killedBefore} = kubelet;
    const left = {...runtime, socketPath: this.#socketPath, sandboxes: fake.sandboxes};
    return {steps, killedBefore, left};
  }

  async #playSuccessor(runtime: FakeRuntimeOptions): Promise<void> {
    const {rootDir, logsDir, pods} = this.#node;
    await using testbed = await ClusterTestbed.start(undefined, {
      ...{api: this.#api, rootDir, logsDir, runtime, manifestsDir: this.#manifestsDir},
      ...{nowMs: takeoverTimeMs(this.#node), node: RECORDED_NODE},
    });
    const {daemon} = testbed;
    try {
      await daemon.until('all pods are known', () => daemon.view.pods().length === pods.length);
      await daemon.clock.sleep(SETTLE_MS);
    } catch (error) {
      this.#violations.push(String(error));
    }
    await this.#check(daemon.fake);
  }

  async #check(fake: FakeRuntime): Promise<void> {
    const {rootDir, pods, runtime} = this.#node;
    const running = runningIds(fake.containers);
    const records = (await readdir(join(rootDir, 'kcri/records'))).toSorted();
    const files = await readdir(rootDir, {recursive: true});
    const mounts = listMounts(`${rootDir}/`);
    const violated = {
      'calls of the next kubelet': changingCalls(fake),
      'statuses that differ': changedPods(this.#node, this.#api).flatMap(([name, fields]) =>
        fields
          .filter((field) => name !== 'crash' || !ALTERNATING.test(field))
          .map((field) => `${name} ${field}`),
      ),
      'lost mirror pods': lostMirrorPods(this.#node, this.#api),
      'containers that do not run': runningIds(runtime.containers).filter((id) => !running.includes(id)),
      'records that are not of one pod': records.length === pods.length ? [] : records,
      'temporary files': files.filter((file) => file.endsWith('.tmp')),
      'mounts on mounts': mounts.filter((path, index) => mounts.indexOf(path) !== index),
      'pods that exist twice': this.#api.storage
        .list('/api/v1/pods')
        .map(({metadata: {namespace, name}}) => `${namespace}/${name}`)
        .filter((name, index, names) => names.indexOf(name) !== index),
    };
    for (const [what, found] of Object.entries(violated))
      if (found.length > 0) this.#violations.push(`${what}: ${found.join(', ')}`);
  }
}
