import {mkdtemp, rm} from 'node:fs/promises';
import {execFileSync} from 'node:child_process';
import {createServer} from 'node:net';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {setTimeout as delay} from 'node:timers/promises';
import type {PodStatus} from '../../../src/api/types/v1-status.js';
import {
  callsByPod,
  canonicalCalls,
  type CanonicalCall,
  type CanonicalLine,
  type ComparableCall,
} from '../../../src/recording/canonical/canonical-calls.js';
import {timeBudget} from '../../base/time-budget.js';
import {GOLDEN_NODE, readGoldenCase, type GoldenCase} from '../../golden/golden-cases.js';
import {withoutSlices} from './pod-cgroups.js';
import type {PodTestbed} from './pod-testbed.js';
import {startRecordingProxy, type RecordingProxy} from './recording-proxy.js';
import type {KcriResult, KcriProcess} from './kcri-process.js';

const FIRST_FILE = 'pod.yaml';
const BLOCK_DEVICE = '/dev/vda';
/** Major number reserved for local use, which no device of the machine has. */
const LOCAL_BLOCK_MAJOR = '240';
const NODE_IP = '192.0.2.2';
/** Shorter than the time limit of a test (vitest.config.ts), whose error would not say what was waited for. */
const TIMEOUT_MS = timeBudget(850_000);
const POLL_INTERVAL_MS = 50;
/** Flags for a pod that keeps running: the sync is interrupted when the manifest is removed. */
const NO_TIMEOUT = ['--wait', 'complete', '--timeout', '1h'];

/** Properties of the recorded node that kcri accepts as flags. */
const NODE_ARGS = [
  ...['--static', '--hostname-override', GOLDEN_NODE.nodeName, '--node-ip', NODE_IP],
  ...['--cluster-dns', '10.96.0.10', '--cluster-domain', 'cluster.local'],
  ...['--node-memory', String(GOLDEN_NODE.memoryBytes), '--node-cpu', String(GOLDEN_NODE.cpuMilli / 1000n)],
];

/** Testbed of the cases. */
export interface GoldenNode {
  readonly testbed: PodTestbed;
  readonly resolvConf: string;
}

type Marked = Extract<CanonicalLine, {mark: string}>;

/**
 * Plays one recorded case with `kcri sync` on a real runtime, from the manifest to the end of the pod. An external
 * action is performed when as many calls have been made as had been recorded before it, so that the play waits for
 * back-offs but never for a fixed time.
 */
export class GoldenPlay implements AsyncDisposable {
  readonly golden: GoldenCase;
  readonly #node: GoldenNode;
  readonly #proxy: RecordingProxy;
  readonly #scratchDir: string;
  readonly #substitutes: ReadonlyMap<string, string>;
  readonly #socket = createServer();
  readonly #syncs = new Map<string, KcriProcess>();
  readonly #results: KcriResult[] = [];
  readonly #podIps = new Set<string>();

  private constructor(node: GoldenNode, golden: GoldenCase, proxy: RecordingProxy, scratchDir: string) {
    this.#node = node;
    this.#proxy = proxy;
    this.#scratchDir = scratchDir;
    this.golden = golden;
    this.#substitutes = new Map([[join(scratchDir, 'vda'), BLOCK_DEVICE]]);
  }

  /** Starts the play of a case, of which `change` derives another one. */
  static async start(
    node: GoldenNode,
    name: string,
    change: (recorded: GoldenCase) => GoldenCase = (recorded) => recorded,
  ): Promise<GoldenPlay> {
    const proxy = await startRecordingProxy(node.testbed.runtime.endpoint);
    const scratchDir = await mkdtemp(join(tmpdir(), 'kcri-golden-'));
    const play = new GoldenPlay(node, change(readGoldenCase(name, scratchDir)), proxy, scratchDir);
    play.#prepare();
    return play;
  }

  /** Prepares the node for the case. */
  #prepare(): void {
    const {golden} = this;
    this.#socket.listen(join(this.#scratchDir, 'cri.sock'));
    if (golden.manifest.includes(BLOCK_DEVICE))
      execFileSync('mknod', [join(this.#scratchDir, 'vda'), 'b', LOCAL_BLOCK_MAJOR, '0']);
    const env = {...process.env, ROOT: this.#node.testbed.runtime.rootDir};
    if (golden.script !== '') execFileSync('sh', ['-ec', golden.script], {env});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const left = [...this.#syncs.values()];
    for (const kcri of left) kcri.kill('SIGKILL');
    await Promise.all(left.map(({exited}) => exited));
    const uids = new Set(this.#uids);
    if (left.length > 0 && uids.size > 0)
      await this.#node.testbed.runtime.kcri(['delete', ...uids, '--grace-period', '0'], {env: this.#env});
    await this.#proxy[Symbol.asyncDispose]();
    this.#socket.close();
    await rm(this.#scratchDir, {recursive: true});
  }

  /** Calls so far, as sent. */
  get calls(): readonly ComparableCall[] {
    return this.#proxy.calls;
  }

  /** Environment of kcri: a pod belongs to the endpoint on which it was created. */
  get #env() {
    return {CONTAINER_RUNTIME_ENDPOINT: this.#proxy.endpoint};
  }

  /** UIDs of the pods that have had a sandbox. */
  get #uids(): readonly string[] {
    const made = this.calls.filter(({method}) => method === 'RunPodSandbox');
    return made.map(({request}) => (request as {config: {metadata: {uid: string}}}).config.metadata.uid);
  }

  /** Plays the case from the addition of the manifest until right before its deletion. */
  async playUntilDeletion(): Promise<void> {
    const {lines} = this.golden;
    for (const [index, line] of lines.entries()) {
      if ('method' in line) continue;
      const recorded = Object.entries(callsByPod(lines.slice(0, index)));
      await this.waitForCalls((made) => {
        const byPod = callsByPod(made);
        return recorded.every(([pod, calls]) => (byPod[pod] ?? []).length >= calls.length);
      });
      if (line.mark === 'manifest-deleted') break;
      await this.#perform(line);
    }
    await this.#waitForReports();
    await this.#recordPodIps();
  }

  /** Deletes the manifests: the syncs terminate their pods. Returns the results of all syncs. */
  async delete(): Promise<readonly KcriResult[]> {
    await Promise.all([...this.#syncs.keys()].map((file) => this.#stop(file)));
    return this.#results;
  }

  /** Returns all mutating calls in the format of the recordings. */
  async canonicalCalls(): Promise<readonly CanonicalCall[]> {
    const {testbed} = this.#node;
    const {images} = await testbed.runtime.connection.images.listImages();
    const calls = this.calls.map((call) => ({...call, request: withCgroupfsPaths(call.request)}));
    return canonicalCalls(calls, {
      nodeName: GOLDEN_NODE.nodeName,
      nodeIp: NODE_IP,
      rootDir: testbed.runtime.rootDir,
      logsDir: testbed.logsDir,
      cgroupRoot: testbed.cgroupRoot,
      scratchDir: this.#scratchDir,
      podIps: [...this.#podIps],
      images: new Map(images.map(({id}) => [id, 'localhost:5000/busybox:1'])),
      substitutes: this.#substitutes,
    });
  }

  async #perform({mark}: Marked): Promise<void> {
    const [verb = '', argument = ''] = mark.split(' ');
    const actions: Readonly<Record<string, () => void | Promise<void>>> = {
      'manifest-added': () => void this.add(),
      add: () => void this.add(argument),
      update: async () => {
        await this.#stop(FIRST_FILE);
        this.add(FIRST_FILE, argument);
      },
      kill: async () => {
        process.kill(await this.#node.testbed.pidOf(await this.#runningContainer(argument)), 'SIGKILL');
      },
      'kill-sandbox': async () => {
        process.kill(await this.#node.testbed.sandboxPidOf(await this.#readySandbox()), 'SIGKILL');
      },
      'rm-sandbox': async () => {
        const {runtime} = this.#node.testbed.runtime.connection;
        await runtime.stopPodSandbox({podSandboxId: await this.#readySandbox()});
      },
      'stop-kubelet': () => this.#stop(FIRST_FILE),
      'start-kubelet': () => void this.add(),
      // The recording does not contain the result of a snapshot.
      snapshot: () => undefined,
    };
    const act = actions[verb];
    if (act === undefined) throw new Error(`unsupported action "${mark}"`);
    await act();
  }

  /** Starts the sync of a manifest. */
  add(file = FIRST_FILE, source = file): KcriProcess {
    const manifest = [...this.#substitutes].reduce(
      (text, [substitute, original]) => text.replaceAll(original, substitute),
      this.golden.file(source),
    );
    // A stopping kubelet leaves its pods running, and so does a sync whose manifest is replaced.
    const next = this.golden.actions.some(([, verb]) => verb === 'stop-kubelet' || verb === 'update');
    const isLast = !next || this.#results.length > 0;
    const args = [
      ...[...NODE_ARGS, '--resolv-conf', this.#node.resolvConf, '--lenient', '-o', 'json'],
      ...[...NO_TIMEOUT, ...(isLast ? ['--rm'] : [])],
    ];
    const kcri = this.#node.testbed.startSync(manifest, args, {env: this.#env});
    this.#syncs.set(file, kcri);
    return kcri;
  }

  async #stop(file: string): Promise<void> {
    const sync = this.#syncs.get(file);
    if (sync === undefined) return;
    sync.kill('SIGINT');
    this.#results.push(await sync.exited);
    this.#syncs.delete(file);
  }

  /** Waits until the condition holds for the finished calls in canonical form. */
  async waitForCalls(isEnough: (made: readonly CanonicalCall[]) => boolean): Promise<void> {
    const end = performance.now() + TIMEOUT_MS;
    for (let seen = -1; ;) {
      const done = this.calls.filter(({code}) => code !== undefined).length;
      const made = done === seen ? undefined : (await this.canonicalCalls()).filter(({code}) => code !== '');
      if (made !== undefined && isEnough(made)) return;
      seen = done;
      if (performance.now() > end) {
        const calls = (await this.canonicalCalls()).map(({method, code}) => `${method} ${code}`);
        throw new Error(`waited for calls, and saw ${calls.length}: ${calls.join(', ')}`);
      }
      await delay(POLL_INTERVAL_MS);
    }
  }

  /** Waits for the end of the pod if it had ended in the recording, otherwise for the recorded warnings. */
  async #waitForReports(): Promise<void> {
    const warnings = this.golden.events.filter(({type}) => type === 'Warning');
    const reasons = [...new Set(warnings.map(({reason}) => reason))];
    for (const kcri of this.#syncs.values()) {
      if (this.hasEnded) await kcri.exited;
      else for (const reason of reasons) await kcri.waitForOutput(new RegExp(`"reason":"${reason}"`));
    }
  }

  /** True if the pod had ended in the recording. */
  get hasEnded(): boolean {
    return this.golden.pods.some(({status}) =>
      /^(?:Succeeded|Failed)$/.test((status as PodStatus).phase ?? ''),
    );
  }

  async #recordPodIps(): Promise<void> {
    const {runtime} = this.#node.testbed.runtime.connection;
    const {items} = await runtime.listPodSandbox();
    for (const {id, metadata} of items) {
      if (!this.#uids.includes(metadata?.uid ?? '')) continue;
      const {status} = await runtime.podSandboxStatus({podSandboxId: id});
      const ip = status?.network?.ip ?? '';
      if (ip !== '' && ip !== NODE_IP) this.#podIps.add(ip);
    }
  }

  async #runningContainer(name: string) {
    const {containers} = await this.#node.testbed.runtime.connection.runtime.listContainers();
    return containers.find(
      ({labels, metadata, state}) =>
        this.#uids.includes(labels['io.kubernetes.pod.uid'] ?? '') &&
        metadata?.name === name &&
        state === 'CONTAINER_RUNNING',
    )!.id;
  }

  async #readySandbox() {
    const {items} = await this.#node.testbed.runtime.connection.runtime.listPodSandbox();
    return items.find(
      ({metadata, state}) => this.#uids.includes(metadata?.uid ?? '') && state === 'SANDBOX_READY',
    )!.id;
  }
}

/** Returns a request with the cgroups that the recorded kubelet would have named, which had no slices. */
function withCgroupfsPaths(request: object): object {
  return JSON.parse(JSON.stringify(request), (key, value: unknown) =>
    key === 'cgroup_parent' ? withoutSlices(value as string) : value,
  ) as object;
}
