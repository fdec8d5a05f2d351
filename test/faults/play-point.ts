import type {ChildProcess} from 'node:child_process';
import {mkdir, mkdtemp, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {anImage, BUSYBOX, FakeRuntime} from '../fakes/fake-runtime.js';
import type {CallInterceptor, RecordedCall} from '../fakes/runtime/call-dispatcher.js';
import {FakeClock} from '../fakes/fake-clock.js';
import {GrpcStatusError} from '../fakes/runtime/grpc-status-error.js';
import type {Rpc} from '../fakes/runtime/cri-messages.js';
import {goldenBehaviour, goldenExec} from '../golden/golden-behaviour.js';
import {GOLDEN_NODE, readGoldenCase, type GoldenCase} from '../golden/golden-cases.js';
import {FIRST_MANIFEST_FILE, GoldenTestbed} from '../golden/golden-testbed.js';
import {DaemonDriver} from '../golden/drivers/daemon-driver.js';
import {goldenKubeletOptions} from '../golden/drivers/golden-play-options.js';
import type {PodDriver} from '../golden/drivers/pod-driver.js';
import {findDuplicates, listFiles, listMounts, summarizePods} from './end-state.js';
import {isAccepted} from './accepted-outcomes.js';
import {FAULTS, type FaultPoint} from './fault-point.js';
import {KillableDriver} from './killable-driver.js';
import {LockstepClock} from './lockstep-clock.js';

/** What a case leads to. */
export interface Outcome {
  /** The pods before each external action. */
  readonly beforeActions: readonly string[];
  /** The pods before their manifests are deleted. */
  readonly endState: string;
  /** Files of the kubelet when nothing is left of its pods. */
  readonly files: readonly string[];
}

/** Result of playing a case. */
export interface Played extends Outcome {
  readonly calls: readonly Rpc[];
  /** Whether the point was reached: its call was made. */
  readonly wasReached: boolean;
  /** Violations of what docs/reliability.md promises. */
  readonly violations: readonly string[];
}

/** Options to play a case. */
export interface PlayPointOptions {
  readonly caseName: string;
  /** The fault. Without one, the case is played as recorded. */
  readonly point?: FaultPoint;
  /** Outcome without a fault. */
  readonly expected?: Outcome;
  /** Starts the compiled kubelet-process.ts; needed to kill. */
  readonly startProcess?: () => ChildProcess;
}

const STARTED_AT_MS = Date.parse('2026-05-01T12:00:00Z');
const PRELUDE_MS = 2000;
/** In ms of the fake clock: longer than all back-offs. */
const WAIT_LIMIT_MS = 20 * 60_000;
const POLL_INTERVAL_MS = 200;
/** How long a crashed runtime is down at most, in ms of the fake clock. */
const DOWN_MS = 2000;
/** Base deadline of CRI calls in ms of real time. */
const CALL_TIMEOUT_MS = 400;
/** Long enough for a busy machine, in ms of real time. */
const CLOSED_WITHIN_MS = 60_000;
/** The intent of a pull that was aborted, which the next pull resolves, since the image may have arrived. */
const ABORTED_PULL = /^root\/(?:kcri\/)?image_manager\/(pulling|pullers)\/sha256-/;
const IMAGE_ID = `sha256:${'b'.repeat(64)}`;

let addresses = 0;

/** Returns an address of this machine that no other running case of this process has. */
function nextAddress(): string {
  addresses = (addresses + 1) % 250;
  return `127.62.${process.pid % 250}.${addresses + 1}`;
}

/**
 * Plays a golden case with a fault, waits until its pods are as without the fault, deletes them, and checks that nothing
 * is left.
 */
export async function playPoint(options: PlayPointOptions): Promise<Played> {
  const directory = await mkdtemp(join(tmpdir(), 'kcri-faults-'));
  try {
    return await new PointPlay(options, directory).play();
  } finally {
    await rm(directory, {recursive: true, force: true});
  }
}

class PointPlay {
  readonly #options: PlayPointOptions;
  readonly #directory: string;
  readonly #golden: GoldenCase;
  readonly #clock = new FakeClock({nowMs: STARTED_AT_MS});
  readonly #violations: string[] = [];
  readonly #calls: Rpc[] = [];
  #driver: DaemonDriver | undefined;
  #killable: KillableDriver | undefined;
  #wasReached = false;
  /** Resolves when the killed kubelet has a successor. */
  #succession: Promise<void> = Promise.resolve();

  constructor(options: PlayPointOptions, directory: string) {
    this.#options = options;
    this.#directory = directory;
    this.#golden = readGoldenCase(options.caseName, this.#scratchDir);
  }

  get #scratchDir(): string {
    return join(this.#directory, 'scratch');
  }

  async play(): Promise<Played> {
    await mkdir(this.#scratchDir);
    using ticking = new LockstepClock(this.#clock);
    const fake = await this.#startRuntime();
    const end = new AbortController();
    const restarting = this.#restartWhenCrashed(fake, end.signal);
    const outcome = await this.#run(fake, ticking).catch((error: unknown) => {
      this.#violations.push(`the play failed: ${error instanceof Error ? error.message : String(error)}`);
      return {beforeActions: [], endState: '', files: []};
    });
    end.abort();
    await restarting;
    await this.#checkConnections(fake);
    await fake.stop();
    if (this.#clock.sleeping > 0) this.#violations.push(`${this.#clock.sleeping} timers are left`);
    return {
      ...outcome,
      calls: this.#calls,
      wasReached: this.#wasReached,
      violations: [...new Set(this.#violations)],
    };
  }

  async #startRuntime(): Promise<FakeRuntime> {
    const busybox = {id: IMAGE_ID, cmd: ['sh'], size: 1_032_138};
    const fake = await FakeRuntime.start({
      socketPath: join(this.#directory, 'cri.sock'),
      images: [anImage({...busybox, name: BUSYBOX, repoDigests: []})],
      registry: [
        anImage({...busybox, name: 'localhost:15397/busybox:1'}),
        anImage({...busybox, name: 'localhost:15397/other', repoDigests: []}),
      ],
      behaviour: goldenBehaviour,
      exec: goldenExec,
      supplementalGroups: ['0'],
      podIps: [this.#address],
      clock: this.#clock,
      intercept: (...call) => this.#intercept(fake, ...call),
    });
    fake.injectError('CheckpointContainer', {code: 'UNKNOWN', message: 'CRIU binary not found'});
    const {point} = this.#options;
    if (point?.kind === 'rpc') FAULTS[point.fault](fake, point.rpc, point.skip);
    return fake;
  }

  readonly #address = nextAddress();

  /** Counts calls, kills the kubelet at its point, and looks for containers that run twice. */
  async #intercept(
    fake: FakeRuntime,
    {method}: RecordedCall,
    stage: Parameters<CallInterceptor>[1],
  ): Promise<void> {
    const {point} = this.#options;
    if (stage === 'before') this.#calls.push(method as Rpc);
    else for (const name of findDuplicates(fake)) this.#violations.push(`${name} runs twice`);
    if (point?.kind === 'rpc') {
      const count = this.#calls.filter((rpc) => rpc === point.rpc).length;
      this.#wasReached ||= method === point.rpc && count > point.skip;
    }
    if (point?.kind === 'kill' && this.#calls.length === point.call + 1 && stage === point.stage)
      await this.#kill();
  }

  async #restartWhenCrashed(fake: FakeRuntime, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      if (!fake.isRunning) await fake.restart();
      try {
        await this.#clock.sleep(DOWN_MS, signal);
      } catch {
        // The play has ended.
      }
    }
  }

  async #kill(): Promise<void> {
    if (this.#wasReached) return;
    this.#wasReached = true;
    this.#succession = this.#killable!.kill();
    await this.#succession;
    throw new GrpcStatusError('CANCELLED', 'the kubelet was killed');
  }

  async #run(fake: FakeRuntime, ticking: LockstepClock): Promise<Outcome> {
    await using testbed = new GoldenTestbed({
      golden: this.#golden,
      scratchDir: this.#scratchDir,
      node: {...GOLDEN_NODE, rootDir: this.#path('root'), podLogsDir: this.#path('logs')},
      clock: this.#clock,
      fake,
      podIp: this.#address,
      ...(this.#options.point && {callTimeoutMs: CALL_TIMEOUT_MS}),
      createDriver: (options) => this.#createDriver(options, ticking),
    });
    await testbed.prepare();
    const beforeActions = await this.#playActions(testbed);
    await this.#succession;
    // A kubelet that made fewer calls than before was not killed yet.
    await this.#killable?.kill();
    const endState = await this.#reachEndState();
    await testbed.perform('delete');
    await this.#untilRemoved(fake);
    return {beforeActions, endState, files: this.#listFiles()};
  }

  #createDriver(options: ConstructorParameters<typeof DaemonDriver>[0], ticking: LockstepClock): PodDriver {
    const {caseName, point, startProcess} = this.#options;
    const usesApi = this.#golden.manifest.includes('$API');
    const overrides = goldenKubeletOptions(caseName);
    const successor = new DaemonDriver(options, overrides, usesApi ? '127.0.0.1' : undefined);
    this.#driver = successor;
    if (point?.kind !== 'kill') return successor;
    if (startProcess === undefined) throw new TypeError('killing needs processes');
    this.#killable = new KillableDriver(options, {caseName, clock: ticking, startProcess, successor});
    return this.#killable;
  }

  /** Returns the pods before each action. */
  async #playActions(testbed: GoldenTestbed): Promise<readonly string[]> {
    const {actions, settleSeconds} = this.#golden;
    const beforeActions: string[] = [];
    const startedAt = this.#clock.now() + PRELUDE_MS;
    const waitUntil = (seconds: number): Promise<void> =>
      this.#clock.sleep(Math.max(0, startedAt + seconds * 1000 - this.#clock.now()));
    await waitUntil(0);
    await testbed.perform('add', FIRST_MANIFEST_FILE);
    for (const [index, [seconds, verb, argument]] of actions.entries()) {
      await waitUntil(seconds);
      await this.#succession;
      await this.#untilRecovered(this.#options.expected?.beforeActions[index]);
      beforeActions.push(this.#summary);
      await testbed.perform(verb, argument);
    }
    await waitUntil(settleSeconds);
    return beforeActions;
  }

  /** Waits until the pods are as they were before an action without the fault. */
  async #untilRecovered(expected: string | undefined): Promise<void> {
    if (expected === undefined || this.#killable?.hasSuccessor === false) return;
    const isRecovered = await this.#until(() => this.#summary === expected);
    if (!isRecovered) this.#violations.push(`an action finds "${this.#summary}" instead of "${expected}"`);
  }

  get #summary(): string {
    return summarizePods(this.#driver?.podsNow ?? []);
  }

  /** Waits until the pods are as expected, and returns how they are. */
  async #reachEndState(): Promise<string> {
    const {expected, caseName} = this.#options;
    if (expected === undefined) return this.#summary;
    const isReached = await this.#until(() => this.#summary === expected.endState);
    if (!isReached && !isAccepted(caseName, this.#summary))
      this.#violations.push(`the pods end as "${this.#summary}", not as "${expected.endState}"`);
    return this.#summary;
  }

  async #untilRemoved(fake: FakeRuntime): Promise<void> {
    const left = (): readonly string[] => [
      ...fake.containers.map(({config}) => `container ${config.metadata?.name}`),
      ...fake.sandboxes.map(({config}) => `sandbox ${config.metadata?.name}`),
      ...listMounts(this.#directory).map((path) => `mount ${path}`),
      ...(this.#options.expected === undefined ? [] : this.#unexpectedFiles()),
    ];
    await this.#until(() => left().length === 0);
    this.#violations.push(...left().map((thing) => `left behind: ${thing}`));
  }

  #unexpectedFiles(): readonly string[] {
    const expected = new Set(this.#options.expected?.files);
    return this.#listFiles().filter((file) => !expected.has(file) && !ABORTED_PULL.test(file));
  }

  #listFiles(): readonly string[] {
    return listFiles(this.#directory, ['root', 'logs', 'root-manifests']);
  }

  async #checkConnections(fake: FakeRuntime): Promise<void> {
    const end = performance.now() + CLOSED_WITHIN_MS;
    while (fake.connections.open > 0 && performance.now() < end) await this.#clock.sleep(POLL_INTERVAL_MS);
    if (fake.connections.open > 0) this.#violations.push(`${fake.connections.open} connections are left`);
  }

  /** Returns whether the condition holds within WAIT_LIMIT_MS of the fake clock. */
  async #until(condition: () => boolean): Promise<boolean> {
    const end = this.#clock.now() + WAIT_LIMIT_MS;
    while (!condition()) {
      if (this.#clock.now() > end) return false;
      await this.#clock.sleep(POLL_INTERVAL_MS);
    }
    return true;
  }

  #path(name: string): string {
    return join(this.#directory, name);
  }
}
