import type {ChildProcess} from 'node:child_process';
import {existsSync, readFileSync} from 'node:fs';
import {mkdir, mkdtemp, rename, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {systemClock} from '../../../src/base/clock.js';
import {isExpectedError} from '../../../src/base/errors.js';
import {parseCpuSet} from '../../../src/kubelet/resources/cpu-set.js';
import {until} from '../../base/until.js';
import {aContainerSpec, aManifest} from '../../commands/command-testbed.js';
import {FakeDevicePlugin} from '../../fakes/plugins/fake-device-plugin.js';
import {anImage, BUSYBOX, FakeRuntime} from '../../fakes/fake-runtime.js';
import {StepProcess} from '../step-process.js';
import type {AllocationProcessOptions} from './allocation-process.js';
import {findDoubleUse, runningShares, type RunningShare} from './allocations.js';

/** Result of allocations by a kubelet that was killed. */
export interface KilledAllocation {
  /** All steps of the kubelet; undefined if it was killed in one. */
  readonly steps: readonly string[] | undefined;
  /** Step before which it was killed. */
  readonly killedBefore: string | undefined;
  /** CPUs and devices that two containers had at once, or that nobody can have any more. */
  readonly violations: readonly string[];
}

const RESOURCE = 'example.com/dev';
const CPUS = (1n << 16n) - 1n;

/** Returns the manifest of a pod with CPUs and devices of its own. */
function ownPod(name: string, cpu: string, devices: string): string {
  const limits = {cpu, memory: '64Mi', [RESOURCE]: devices};
  return podOf(name, {requests: limits, limits});
}

function podOf(name: string, resources: object): string {
  return aManifest({
    name,
    terminationGracePeriodSeconds: 0,
    containers: [aContainerSpec('main', {resources})],
  });
}

/**
 * Has a kubelet, which is killed before a step, give two pods CPUs and devices of their own; then another one, which must be able
 * to give all of them to one pod when those two are deleted.
 */
export async function killAllocation(
  step: number,
  startProcess: () => ChildProcess,
): Promise<KilledAllocation> {
  const directory = await mkdtemp(join(tmpdir(), 'kcri-allocations-'));
  const play = new AllocationPlay(directory, startProcess);
  try {
    return await play.play(step);
  } finally {
    await play.end();
    await rm(directory, {recursive: true, maxRetries: 20});
  }
}

interface CpuState {
  readonly defaultCpuSet: string;
  readonly entries?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

class AllocationPlay {
  readonly #directory: string;
  readonly #startProcess: () => ChildProcess;
  readonly #violations = new Set<string>();
  #fake: FakeRuntime | undefined;
  #kubelet: StepProcess | undefined;
  #plugin: FakeDevicePlugin | undefined;

  constructor(directory: string, startProcess: () => ChildProcess) {
    this.#directory = directory;
    this.#startProcess = startProcess;
  }

  async play(step: number): Promise<KilledAllocation> {
    await mkdir(this.#path('manifests'));
    this.#fake = await FakeRuntime.start({
      socketPath: this.#path('cri.sock'),
      images: [anImage({name: BUSYBOX})],
      clock: systemClock,
      intercept: async (_call, stage) => {
        if (stage === 'after') this.#checkUse();
        return Promise.resolve();
      },
    });
    const killed = await this.#playKilled(step);
    await this.#playSuccessor();
    return {...killed, violations: [...this.#violations]};
  }

  async end(): Promise<void> {
    await this.#kubelet?.kill();
    await this.#plugin?.kill();
    await this.#fake?.stop();
  }

  #path(name: string): string {
    return join(this.#directory, name);
  }

  get #shares(): readonly RunningShare[] {
    return this.#fake === undefined ? [] : runningShares(this.#fake);
  }

  #checkUse(): void {
    for (const violation of findDoubleUse(this.#shares)) this.#violations.add(violation);
  }

  #isRunning(...pods: readonly string[]): boolean {
    const running = this.#shares.map(({pod}) => pod);
    return pods.every((pod) => running.includes(pod));
  }

  /** Returns the steps of the first kubelet, unless it was killed. */
  async #playKilled(step: number): Promise<Omit<KilledAllocation, 'violations'>> {
    const kubelet = await this.#start(step);
    await this.#plug(kubelet);
    await this.#put('a', ownPod('a', '4', '1'));
    await this.#put('b', ownPod('b', '4', '1'));
    await this.#put('shared', podOf('shared', {}));
    await until(() => kubelet.hasEnded || this.#isSettled('a', 'b', 'shared'));
    // A step may come after all pods have settled.
    const steps = kubelet.hasEnded ? undefined : await kubelet.askSteps();
    await kubelet.kill();
    return {steps, killedBefore: kubelet.killedBefore};
  }

  async #playSuccessor(): Promise<void> {
    await this.#plug(await this.#start(Infinity));
    await until(() => this.#isSettled('shared'));
    await rm(this.#path('manifests/a.json'));
    await rm(this.#path('manifests/b.json'));
    await until(() => this.#shares.length === 1 && Object.keys(this.#cpuState?.entries ?? {}).length === 0);
    await this.#put('all', ownPod('all', '15', '2'));
    await until(
      () => this.#isSettled('all', 'shared'),
      () => `all CPUs and devices in one pod; its kubelet stored ${JSON.stringify(this.#cpuState)}`,
    ).catch((error: unknown) => this.#violations.add(String(error)));
  }

  /** Reports whether the pods run, and what is stored is what the containers have: no CPU is lost. */
  #isSettled(...pods: readonly string[]): boolean {
    const state = this.#cpuState;
    if (state === undefined || !this.#isRunning(...pods)) return false;
    const shared = parseCpuSet(state.defaultCpuSet);
    const own = Object.values(state.entries ?? {}).flatMap((containers) => Object.values(containers));
    const stored = own.map(parseCpuSet).toSorted(byValue);
    const used = this.#shares.filter(({pod}) => pod !== 'shared').map(({cpus}) => cpus);
    const all = stored.reduce((union, cpus) => union | cpus, shared);
    return (
      all === CPUS &&
      JSON.stringify(stored.map(String)) === JSON.stringify(used.toSorted(byValue).map(String)) &&
      this.#shares.every(({pod, cpus}) => pod !== 'shared' || cpus === shared)
    );
  }

  /** State that the CPU manager has stored; undefined before the first. */
  get #cpuState(): CpuState | undefined {
    const path = this.#path('root/cpu_manager_state');
    return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as CpuState) : undefined;
  }

  /** Starts a kubelet. The socket of the one before is removed first: later it would be that of the new one. */
  async #start(step: number): Promise<StepProcess> {
    await rm(this.#path('devices/kubelet.sock'), {force: true});
    const options: AllocationProcessOptions = {
      endpoint: this.#fake?.endpoint ?? '',
      rootDir: this.#path('root'),
      podLogsDir: this.#path('logs'),
      manifestsDir: this.#path('manifests'),
      devicePluginsDir: this.#path('devices'),
      step,
    };
    this.#kubelet = new StepProcess(this.#startProcess(), options);
    return this.#kubelet;
  }

  /**
   * Starts the device plugin when the kubelet has removed the sockets of others, and registers it. It tries again, as plugins do:
   * a socket has a file shortly before it accepts connections.
   */
  async #plug(kubelet: StepProcess): Promise<void> {
    await this.#plugin?.kill();
    const directory = this.#path('devices');
    await until(() => kubelet.hasEnded || existsSync(join(directory, 'kubelet.sock')));
    if (kubelet.hasEnded) return;
    const plugin = await FakeDevicePlugin.start({directory, resource: RESOURCE});
    this.#plugin = plugin;
    await until(async () => kubelet.hasEnded || (await isRegistered(plugin)));
    await until(() => kubelet.hasEnded || this.#hasStoredDevices());
  }

  #hasStoredDevices(): boolean {
    const path = this.#path('devices/kubelet_internal_checkpoint');
    return (
      existsSync(path) &&
      /"RegisteredDevices":\{"example.com\/dev":\["d\d","d\d"\]/.test(readFileSync(path, 'utf8'))
    );
  }

  async #put(name: string, manifest: string): Promise<void> {
    const path = this.#path(`manifests/${name}.json`);
    await writeFile(this.#path(`${name}.json`), manifest);
    await rename(this.#path(`${name}.json`), path);
  }
}

async function isRegistered(plugin: FakeDevicePlugin): Promise<boolean> {
  try {
    await plugin.register();
    return true;
  } catch (error) {
    if (!isExpectedError(error)) throw error;
    return false;
  }
}

function byValue(a: bigint, b: bigint): number {
  return a < b ? -1 : Number(a > b);
}
