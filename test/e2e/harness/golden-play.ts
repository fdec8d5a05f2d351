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
  type GoldenCall,
} from '../../golden/canonical/canonical-calls.js';
import {GOLDEN_NODE, readGoldenCase, type GoldenCase} from '../../golden/golden-cases.js';
import type {PodTestbed} from './pod-testbed.js';
import {startRecordingProxy, type RecordingProxy} from './recording-proxy.js';
import type {KcriResult, KcriProcess} from './kcri-process.js';

const FIRST_FILE = 'pod.yaml';
const BLOCK_DEVICE = '/dev/vda';
/** A driver number for local use, which no machine has a device of. */
const LOCAL_BLOCK_MAJOR = '240';
const NODE_IP = '192.0.2.2';
/** Longer than any back-off of a case, also on a busy machine. */
const TIMEOUT_MS = 120_000;
const POLL_INTERVAL_MS = 50;
/** Nobody waits for a pod that runs on: the sync is interrupted when the manifest goes. */
const NO_TIMEOUT = ['--wait', 'complete', '--timeout', '1h'];

/** What of the recorded node can be said to kcri. */
const NODE_ARGS = [
  ...['--static', '--hostname-override', GOLDEN_NODE.nodeName, '--node-ip', NODE_IP],
  ...['--cluster-dns', '10.96.0.10', '--cluster-domain', 'cluster.local'],
  ...['--node-memory', String(GOLDEN_NODE.memoryBytes), '--node-cpu', String(GOLDEN_NODE.cpuMilli / 1000n)],
];

/** Where cases are played. */
export interface GoldenTestbed {
  readonly testbed: PodTestbed;
  readonly resolvConf: string;
}

type Marked = Extract<CanonicalLine, {mark: string}>;

/**
 * Plays one recorded case with `kcri sync` on a real runtime, from the manifest to the pod's end. What was done from outside is done
 * when as many calls have been made as had been recorded until then: so it waits for back-offs, but never for a time.
 */
export class GoldenPlay implements AsyncDisposable {
  readonly golden: GoldenCase;
  readonly #where: GoldenTestbed;
  readonly #proxy: RecordingProxy;
  readonly #scratchDir: string;
  readonly #doubles: ReadonlyMap<string, string>;
  readonly #socket = createServer();
  readonly #syncs = new Map<string, KcriProcess>();
  readonly #results: KcriResult[] = [];
  readonly #podIps = new Set<string>();

  private constructor(where: GoldenTestbed, name: string, proxy: RecordingProxy, scratchDir: string) {
    this.#where = where;
    this.#proxy = proxy;
    this.#scratchDir = scratchDir;
    this.golden = readGoldenCase(name, scratchDir);
    this.#doubles = new Map([[join(scratchDir, 'vda'), BLOCK_DEVICE]]);
  }

  static async start(where: GoldenTestbed, name: string): Promise<GoldenPlay> {
    const proxy = await startRecordingProxy(where.testbed.runtime.endpoint);
    const play = new GoldenPlay(where, name, proxy, await mkdtemp(join(tmpdir(), 'kcri-golden-')));
    play.#prepare();
    return play;
  }

  /** Makes on the node what the case needs there. */
  #prepare(): void {
    const {golden} = this;
    this.#socket.listen(join(this.#scratchDir, 'cri.sock'));
    if (golden.manifest.includes(BLOCK_DEVICE))
      execFileSync('mknod', [join(this.#scratchDir, 'vda'), 'b', LOCAL_BLOCK_MAJOR, '0']);
    const env = {...process.env, ROOT: this.#where.testbed.runtime.rootDir};
    if (golden.script !== '') execFileSync('sh', ['-ec', golden.script], {env});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const left = [...this.#syncs.values()];
    for (const kcri of left) kcri.kill('SIGKILL');
    await Promise.all(left.map(({exited}) => exited));
    const uids = new Set(this.#uids);
    if (left.length > 0 && uids.size > 0)
      await this.#where.testbed.runtime.kcri(['delete', ...uids, '--grace-period', '0'], {env: this.#env});
    await this.#proxy[Symbol.asyncDispose]();
    this.#socket.close();
    await rm(this.#scratchDir, {recursive: true});
  }

  /** The calls so far, as they were sent. */
  get calls(): readonly GoldenCall[] {
    return this.#proxy.calls;
  }

  /** A pod belongs to the endpoint that it was made at. */
  get #env() {
    return {CONTAINER_RUNTIME_ENDPOINT: this.#proxy.endpoint};
  }

  /** The pods that have had a sandbox. */
  get #uids(): readonly string[] {
    const made = this.calls.filter(({method}) => method === 'RunPodSandbox');
    return made.map(({request}) => (request as {config: {metadata: {uid: string}}}).config.metadata.uid);
  }

  /** From the manifest's coming to just before its going. */
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
      await this.#act(line);
    }
    await this.#untilTold();
    await this.#rememberIps();
  }

  /** The manifests go: the syncs end their pods. Gives what all syncs came to. */
  async delete(): Promise<readonly KcriResult[]> {
    await Promise.all([...this.#syncs.keys()].map((file) => this.#stop(file)));
    return this.#results;
  }

  /** All changing calls in the recordings' form. */
  async canonicalCalls(): Promise<readonly CanonicalCall[]> {
    const {testbed} = this.#where;
    const {images} = await testbed.runtime.connection.images.listImages();
    return canonicalCalls(this.calls, {
      nodeName: GOLDEN_NODE.nodeName,
      nodeIp: NODE_IP,
      rootDir: testbed.runtime.rootDir,
      logsDir: testbed.logsDir,
      cgroupRoot: testbed.cgroupRoot,
      scratchDir: this.#scratchDir,
      podIps: [...this.#podIps],
      images: new Map(images.map(({id}) => [id, 'localhost:5000/busybox:1'])),
      substitutes: this.#doubles,
    });
  }

  async #act({mark}: Marked): Promise<void> {
    const [verb = '', argument = ''] = mark.split(' ');
    const acts: Readonly<Record<string, () => void | Promise<void>>> = {
      'manifest-added': () => void this.add(),
      add: () => void this.add(argument),
      update: async () => {
        await this.#stop(FIRST_FILE);
        this.add(FIRST_FILE, argument);
      },
      kill: async () => {
        process.kill(await this.#where.testbed.pidOf(await this.#running(argument)), 'SIGKILL');
      },
      'kill-sandbox': async () => {
        process.kill(await this.#sandboxPid(), 'SIGKILL');
      },
      'stop-kubelet': () => this.#stop(FIRST_FILE),
      'start-kubelet': () => void this.add(),
      // What it showed isn't in the recording.
      snapshot: () => undefined,
    };
    const act = acts[verb];
    if (act === undefined) throw new Error(`nobody here can do "${mark}"`);
    await act();
  }

  /** A manifest comes. */
  add(file = FIRST_FILE, source = file): KcriProcess {
    const manifest = [...this.#doubles].reduce(
      (text, [double, real]) => text.replaceAll(real, double),
      this.golden.file(source),
    );
    // A kubelet that goes leaves its pods, and so does one whose manifest is replaced.
    const next = this.golden.actions.some(([, verb]) => verb === 'stop-kubelet' || verb === 'update');
    const isLast = !next || this.#results.length > 0;
    const args = [
      ...[...NODE_ARGS, '--resolv-conf', this.#where.resolvConf, '--lenient', '-o', 'json'],
      ...[...NO_TIMEOUT, ...(isLast ? ['--rm'] : [])],
    ];
    const kcri = this.#where.testbed.startSync(manifest, args, {env: this.#env});
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

  /** Waits until that holds for the finished calls in canonical form. */
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

  /** Waits for the end of a pod that had ended when it was recorded, else for what the kubelet had complained of. */
  async #untilTold(): Promise<void> {
    const warnings = this.golden.events.filter(({type}) => type === 'Warning');
    const reasons = [...new Set(warnings.map(({reason}) => reason))];
    for (const kcri of this.#syncs.values()) {
      if (this.hasEnded) await kcri.exited;
      else for (const reason of reasons) await kcri.waitForOutput(new RegExp(`"reason":"${reason}"`));
    }
  }

  /** It had ended when it was recorded. */
  get hasEnded(): boolean {
    return this.golden.pods.some(({status}) =>
      /^(?:Succeeded|Failed)$/.test((status as PodStatus).phase ?? ''),
    );
  }

  async #rememberIps(): Promise<void> {
    const {runtime} = this.#where.testbed.runtime.connection;
    const {items} = await runtime.listPodSandbox();
    for (const {id, metadata} of items) {
      if (!this.#uids.includes(metadata?.uid ?? '')) continue;
      const {status} = await runtime.podSandboxStatus({podSandboxId: id});
      const ip = status?.network?.ip ?? '';
      if (ip !== '' && ip !== NODE_IP) this.#podIps.add(ip);
    }
  }

  async #running(name: string) {
    const {containers} = await this.#where.testbed.runtime.connection.runtime.listContainers();
    return containers.find(
      ({labels, metadata, state}) =>
        this.#uids.includes(labels['io.kubernetes.pod.uid'] ?? '') &&
        metadata?.name === name &&
        state === 'CONTAINER_RUNNING',
    )!.id;
  }

  async #sandboxPid(): Promise<number> {
    const {items} = await this.#where.testbed.runtime.connection.runtime.listPodSandbox();
    const {id} = items.find(
      ({metadata, state}) => this.#uids.includes(metadata?.uid ?? '') && state === 'SANDBOX_READY',
    )!;
    return await this.#where.testbed.sandboxPidOf(id);
  }
}
