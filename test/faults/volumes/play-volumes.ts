import type {ChildProcess} from 'node:child_process';
import {statSync} from 'node:fs';
import {mkdir, mkdtemp, realpath, rename, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {setTimeout as delay} from 'node:timers/promises';
import {systemClock} from '../../../src/base/clock.js';
import {messageOf} from '../../../src/base/errors.js';
import {attachLoopDisk, loopDevicesBelow, loopFiles, type LoopDisk} from '../../base/loop-disk.js';
import {stallTolerantTimer} from '../../base/stall-tolerant-timer.mjs';
import type {Plain} from '../../fakes/containerd/containerd-services.js';
import {anImage, BUSYBOX, FakeRuntime} from '../../fakes/fake-runtime.js';
import {findDuplicates} from '../end-state.js';
import type {KubeletProcesses} from '../killable-driver.js';
import {StepProcess} from '../step-process.js';
import {lostVolumes, runningPods, writeInContainer} from './container-volumes.js';
import {FaultyDriver} from './faulty-driver.js';
import {realDuration, timeLapseClock} from './time-lapse.js';
import {listNames, listStagingFiles} from './list-directory.js';
import {MountShell} from './mount-shell.js';
import {PlayCgroups} from './play-cgroups.js';
import {mountsBelow, VolumeBackend} from './volume-backend.js';
import {claimOf, LARGE, podWithVolumes, SMALL, STORAGE} from './volume-manifests.js';
import type {VolumePoint} from './volume-point.js';
import type {VolumeProcessOptions} from './volume-process.js';

/** Result of playing pods with volumes. */
export interface PlayedVolumes {
  /** Steps of the first kubelet; undefined if it was killed. */
  readonly steps: readonly string[] | undefined;
  /** Step before which the first kubelet was killed. */
  readonly killedBefore: string | undefined;
  /** Methods of the driver that were called. */
  readonly methods: readonly string[];
  readonly wasReached: boolean;
  /** Violations of what docs/reliability.md promises. */
  readonly violations: readonly string[];
}

/** How long a state of the pods is waited for, in ms of real time. */
const WAIT_LIMIT_MS = 240_000;
const POLL_INTERVAL_MS = 20;
/** Time within which a kubelet that runs has seen a claim, and that it is gone, in ms of its clock. */
const SEEN_MS = 50_000;
/** Number of times that a claim is added and removed until its volume is deleted. */
const CLAIM_ATTEMPTS = 30;
const POD_NAMES: ReadonlySet<string> = new Set(['a', 'b', 'c']);

/**
 * Runs three pods that share volumes of a CSI driver and have one of their own, with a fault, and removes them one after the other.
 * Checks all the time that running containers have their volumes, and at the end that nothing is left and no data is lost.
 */
export async function playVolumes(point: VolumePoint, processes: KubeletProcesses): Promise<PlayedVolumes> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), 'kcri-volumes-')));
  const disk = await attachLoopDisk(1);
  const play = new VolumePlay({directory, disk, point, processes});
  try {
    return await play.play();
  } finally {
    await play.end();
    await disk[Symbol.asyncDispose]();
    await rm(directory, {recursive: true, maxRetries: 20});
  }
}

interface PlayOptions {
  readonly directory: string;
  readonly disk: LoopDisk;
  readonly point: VolumePoint;
  readonly processes: KubeletProcesses;
}

class VolumePlay {
  readonly #options: PlayOptions;
  readonly #startMs = systemClock.now();
  readonly #violations = new Set<string>();
  readonly #shell = new MountShell();
  readonly #backend: VolumeBackend;
  readonly #driver: FaultyDriver;
  readonly #deviceNumber: number;
  readonly #cgroups: PlayCgroups;
  #fake: FakeRuntime | undefined;
  #kubelet: StepProcess | undefined;
  #child: ChildProcess | undefined;
  #killedBefore: string | undefined;
  /** Number of kubelets that were killed. */
  #kills = 0;
  #hasFailed = false;
  /** Resolves when the killed kubelet has a successor. */
  #succession: Promise<void> = Promise.resolve();
  #isEnding = false;
  /** What containers have written into each of the two volumes. */
  #written = '';

  constructor(options: PlayOptions) {
    this.#options = options;
    const {disk, point} = options;
    this.#deviceNumber = statSync(disk.device).rdev;
    this.#cgroups = new PlayCgroups(options.directory);
    this.#backend = new VolumeBackend({
      ...{directory: this.#path('backend'), device: disk.device, shell: this.#shell},
      violations: (text) => {
        this.#violations.add(text);
      },
    });
    this.#driver = new FaultyDriver({
      sockets: {
        path: this.#path('root/plugins/disk/csi.sock'),
        registration: this.#path('root/plugins_registry/disk-reg.sock'),
      },
      backend: this.#backend,
      point,
      onFault: () => (this.#hasFailed = true),
      kill: async () => {
        await this.#kubelet?.kill();
        await this.#succession;
      },
      onCall: (request, method) => {
        this.#checkCall(request, method);
      },
    });
  }

  async play(): Promise<PlayedVolumes> {
    for (const name of ['manifests', 'root', 'devices']) await mkdir(this.#path(name));
    await this.#backend.create();
    this.#fake = await FakeRuntime.start({
      socketPath: this.#path('cri.sock'),
      images: [anImage({name: BUSYBOX})],
      clock: timeLapseClock(this.#startMs),
      intercept: ({method, request}, stage) => {
        this.#checkContainers();
        if (stage === 'after' && method === 'StartContainer') this.#write(String(request['container_id']));
      },
    });
    await this.#driver.start();
    this.#start(this.#options.point.killBeforeStep ?? Infinity);
    let steps: readonly string[] | undefined;
    try {
      await this.#playPods();
      await this.#succession;
      if (!this.#wasKilled) steps = await this.#kubelet?.askSteps();
    } catch (error) {
      this.#violations.add(messageOf(error));
    }
    await this.#stop();
    const {methods} = this.#driver;
    const killedBefore = this.#killedBefore?.replaceAll(this.#options.directory, '');
    return {steps, killedBefore, methods, wasReached: this.#wasReached, violations: [...this.#violations]};
  }

  async end(): Promise<void> {
    this.#isEnding = true;
    await this.#kubelet?.kill();
    await this.#driver[Symbol.asyncDispose]();
    await this.#fake?.stop();
    await this.#unmountAll();
    this.#cgroups.remove();
    this.#shell[Symbol.dispose]();
  }

  /** Unmounts everything below the directory, as the end of a node does; what is in use too. */
  async #unmountAll(): Promise<void> {
    const {directory} = this.#options;
    // They may find nothing to do, because programs of a killed kubelet go on.
    const run = async (...command: readonly string[]): Promise<void> => {
      await this.#shell.run(...command).catch(() => undefined);
    };
    for (const device of await loopDevicesBelow(directory)) await run('losetup', '-d', device);
    for (const path of mountsBelow(directory).toReversed()) await run('umount', '-l', path);
  }

  /** Stops the last kubelet, so that its process can be used for another play, unless something is wrong. */
  async #stop(): Promise<void> {
    if (this.#violations.size > 0) return;
    this.#isEnding = true;
    const kubelet = this.#kubelet;
    if (kubelet === undefined) return;
    let left: readonly string[];
    try {
      left = await kubelet.stop();
    } catch (error) {
      // It may have been killed while it stopped.
      if (kubelet.killedBefore === undefined) this.#violations.add(messageOf(error));
      return;
    }
    if (this.#child !== undefined) this.#options.processes.give(this.#child);
    this.#kubelet = undefined;
    // A kubelet that was started before the last pod was gone must not make anything again.
    const things = [...left.map((name) => `${name} of the kubelet that stopped`), ...this.#left()];
    for (const thing of things) this.#violations.add(`left behind: ${thing}`);
  }

  #path(name: string): string {
    return join(this.#options.directory, name);
  }

  async #playPods(): Promise<void> {
    await this.#put('storage', STORAGE);
    await this.#put('claim', claimOf(SMALL));
    await this.#put('a', podWithVolumes('a'));
    await this.#until('pod a runs', () => this.#isRunning('a'));
    // The volume is enlarged while one pod has it and another one begins.
    await this.#put('claim', claimOf(LARGE));
    await this.#put('b', podWithVolumes('b'));
    await this.#until('pod b runs', () => this.#isRunning('b'));
    await this.#until('the volume of the claim is enlarged', () => this.#isEnlarged());
    await this.#remove('a');
    await this.#until('pod a is gone', () => this.#isGone('a'));
    // The last pod of a volume ends while another one begins.
    await this.#remove('b');
    await this.#put('c', podWithVolumes('c'));
    await this.#until('pod c runs and pod b is gone', () => this.#isGone('b') && this.#isRunning('c'));
    await this.#remove('c');
    await this.#until('pod c is gone', () => this.#isGone('c'));
    const expected = this.#written === '' ? [] : [this.#written, this.#written];
    if (this.#backend.written.join() !== expected.join()) this.#violations.add('data of a volume is lost');
    await this.#removeClaim();
    await this.#untilNothingIsLeft();
  }

  /** Removes the claim; if its volume stays, again after a while: a kubelet deletes only the volume of a claim that it has seen. */
  async #removeClaim(): Promise<void> {
    await this.#remove('claim');
    for (let attempt = 0; attempt < CLAIM_ATTEMPTS && !(await this.#losesMade()); attempt++) {
      await this.#put('claim', claimOf(LARGE));
      // Nothing shows that it was seen; a shorter time only means another attempt.
      await delay(realDuration(SEEN_MS));
      await this.#remove('claim');
    }
  }

  /** Resolves with true when no volume that was made is left, nor a record of one, with false if one is after a while. */
  async #losesMade(): Promise<boolean> {
    const hasTimedOut = stallTolerantTimer(realDuration(SEEN_MS));
    while (this.#backend.made.length > 0 || this.#volumeRecords().length > 0) {
      if (hasTimedOut()) return false;
      await delay(POLL_INTERVAL_MS);
    }
    return true;
  }

  get #wasKilled(): boolean {
    return this.#kills > 0;
  }

  /** True if the fault of the point has happened; both kills if it has two. */
  get #wasReached(): boolean {
    const isKilledAgain = this.#options.point.killAgainBeforeStep !== undefined;
    return isKilledAgain ? this.#kills > 1 : this.#hasFailed || this.#wasKilled;
  }

  /** Whether the manifests of all pods are removed after a kill. */
  get #removesPods(): boolean {
    const {aftermath} = this.#options.point;
    return aftermath === 'deleted' || aftermath === 'lost';
  }

  /** Reports whether the containers of a pod run, or need not because all pods were removed after a kill. */
  #isRunning(pod: string): boolean {
    if (this.#wasKilled && this.#removesPods) return true;
    const containers = (this.#fake?.containers ?? []).filter(({state}) => state === 'CONTAINER_RUNNING');
    return containers.some(({config}) => config.labels['io.kubernetes.pod.name'] === `${pod}-goldennode`);
  }

  /** Reports whether the volume of the claim is enlarged, or need not because all pods were removed after a kill. */
  #isEnlarged(): boolean {
    return (this.#wasKilled && this.#removesPods) || this.#backend.hasVolumeOf(LARGE);
  }

  #isGone(pod: string): boolean {
    const sandboxes = this.#fake?.sandboxes ?? [];
    return sandboxes.every(({config}) => config.metadata?.name !== `${pod}-goldennode`);
  }

  /** Returns what is left of the pods, apart from loop devices. */
  #left(): readonly string[] {
    return [
      ...(this.#fake?.containers ?? []).map(({config}) => `container ${config.metadata?.name}`),
      ...(this.#fake?.sandboxes ?? []).map(({config}) => `sandbox ${config.metadata?.name}`),
      ...listNames(this.#path('root/pods')).map((uid) => `directory of pod ${uid}`),
      ...mountsBelow(this.#options.directory).map((path) => `mount ${path}`),
      ...this.#backend.left,
      ...this.#cgroups.ofPods.map((path) => `cgroup ${path}`),
      ...listStagingFiles(this.#path('root')).map((path) => `file ${path}`),
      ...this.#volumeRecords().map((name) => `record of volume ${name}`),
    ];
  }

  /** Returns the names of the records of volumes that drivers have made, or may make: one that is slow has not made its volume yet. */
  #volumeRecords(): readonly string[] {
    return listNames(this.#path('root/kcri/volumes')).filter((name) => name.endsWith('.json'));
  }

  async #untilNothingIsLeft(): Promise<void> {
    let found: readonly string[] = [];
    const isEmpty = async (): Promise<boolean> => {
      found = this.#left();
      // A program lists these.
      if (found.length === 0) found = await loopFiles(this.#options.directory);
      return found.length === 0;
    };
    await this.#until('nothing is left', isEmpty).catch((error: unknown) => {
      for (const thing of found) this.#violations.add(`left behind: ${thing}`);
      throw error;
    });
  }

  /** Checks that a driver is not told to unmount what a running container has. */
  #checkCall(request: Plain, method: string): void {
    this.#checkContainers();
    if (method !== 'NodeUnpublishVolume' || this.#fake === undefined) return;
    const target = String(request['target_path']);
    for (const uid of runningPods(this.#fake))
      if (target.includes(uid)) this.#violations.add(`${target} is unpublished while its pod runs`);
  }

  #checkContainers(): void {
    if (this.#fake === undefined || this.#isEnding) return;
    for (const lost of lostVolumes(this.#fake, this.#deviceNumber)) this.#violations.add(lost);
    for (const twice of findDuplicates(this.#fake)) this.#violations.add(`${twice} runs twice`);
  }

  #write(id: string): void {
    const container = this.#fake?.containers.find((one) => one.id === id);
    if (container?.state === 'CONTAINER_RUNNING') this.#written += writeInContainer(container);
  }

  /** Waits for a state of the pods. Rejects after WAIT_LIMIT_MS. */
  async #until(what: string, isReached: () => boolean | Promise<boolean>): Promise<void> {
    const hasTimedOut = stallTolerantTimer(WAIT_LIMIT_MS);
    while (!(await isReached())) {
      if (hasTimedOut()) throw new Error(`waited ${WAIT_LIMIT_MS / 1000} s until ${what}`);
      await delay(POLL_INTERVAL_MS);
    }
    this.#checkContainers();
  }

  #start(step: number): void {
    const child = this.#options.processes.take();
    const options: VolumeProcessOptions = {
      endpoint: this.#fake?.endpoint ?? '',
      rootDir: this.#path('root'),
      podLogsDir: this.#path('logs'),
      manifestsDir: this.#path('manifests'),
      devicePluginsDir: this.#path('devices'),
      ...this.#cgroups.facts,
      ...{startMs: this.#startMs, step},
    };
    const kubelet = new StepProcess(child, options);
    this.#kubelet = kubelet;
    this.#child = child;
    void kubelet.ended.then(() => {
      if (this.#isEnding) return;
      if (kubelet.exitCode !== null) this.#violations.add(`the kubelet ended with ${kubelet.exitCode}`);
      this.#killedBefore ??= kubelet.killedBefore;
      this.#kills += 1;
      this.#succession = this.#succeed().catch((error: unknown) => {
        this.#violations.add(`no kubelet follows the killed one: ${String(error)}`);
      });
    });
  }

  /** Starts another kubelet after what happens in between. */
  async #succeed(): Promise<void> {
    const {aftermath, killAgainBeforeStep = Infinity} = this.#options.point;
    if (aftermath === 'lost') await this.#loseState();
    if (this.#removesPods) for (const name of POD_NAMES) await this.#remove(name);
    if (aftermath === 'driver') this.#driver.restart();
    if (aftermath === 'reboot') await this.#reboot();
    if (!this.#isEnding) this.#start(this.#kills === 1 ? killAgainBeforeStep : Infinity);
  }

  /** Ends all containers, and removes what the runtime and kcri know of them, other than the volumes that were made. */
  async #loseState(): Promise<void> {
    this.#fake?.state.containers.clear();
    this.#fake?.state.sandboxes.clear();
    for (const name of listNames(this.#path('root/kcri')))
      if (name !== 'volumes') await rm(this.#path(`root/kcri/${name}`), {recursive: true});
  }

  async #reboot(): Promise<void> {
    const fake = this.#fake;
    if (fake === undefined) return;
    for (const {id, state} of fake.containers) if (state === 'CONTAINER_RUNNING') fake.exitContainer(id, 137);
    for (const {id, state} of fake.sandboxes) if (state === 'SANDBOX_READY') fake.exitSandbox(id);
    this.#driver.restart();
    await this.#unmountAll();
    this.#backend.reboot();
    this.#cgroups.clear();
  }

  async #put(name: string, manifest: string): Promise<void> {
    if (this.#wasKilled && this.#removesPods && POD_NAMES.has(name)) return;
    await writeFile(this.#path(`${name}.json`), manifest);
    await rename(this.#path(`${name}.json`), this.#path(`manifests/${name}.json`));
  }

  async #remove(name: string): Promise<void> {
    await rm(this.#path(`manifests/${name}.json`), {force: true});
  }
}
