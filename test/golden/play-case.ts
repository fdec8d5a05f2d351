import {mkdir} from 'node:fs/promises';
import {join} from 'node:path';
import {temporaryDirectory} from '../base/temporary-directory.js';
import {anImage, BUSYBOX, FakeRuntime, type FakeRuntimeOptions} from '../fakes/fake-runtime.js';
import {goldenBehaviour, goldenExec} from './golden-behaviour.js';
import {canonicalEvents, canonicalPods, type CanonicalEvent} from './canonical/canonical-pods.js';
import {
  canonicalCalls,
  labelsOf,
  type CanonicalLine,
  type JsonObject,
} from '../../src/recording/canonical/canonical-calls.js';
import {GOLDEN_NODE, goldenEnvironment, readGoldenCase} from './golden-cases.js';
import {ForegroundDriver} from './drivers/foreground-driver.js';
import type {CreatePodDriver} from './drivers/pod-driver.js';
import {collectProbeCommands} from './canonical/collect-probe-commands.js';
import {FIRST_MANIFEST_FILE, GoldenTestbed} from './golden-testbed.js';
import {AutoAdvance, FakeClock} from '../fakes/fake-clock.js';

/** kcri's result for a case, in canonical form. */
export interface PlayResult {
  readonly lines: readonly CanonicalLine[];
  /** The pods right before their manifests were deleted. */
  readonly pods: readonly JsonObject[];
  readonly events: readonly CanonicalEvent[];
  /** Rejections of a driver that does not throw. */
  readonly rejections: readonly string[];
}

/** Options to play a case. */
export interface PlayOptions {
  /** Seconds from adding to deleting the manifest, by default as recorded. */
  readonly settleSeconds?: number | undefined;
  /** Creates the driver, by default `kcri sync`. */
  readonly createDriver?: CreatePodDriver;
  /** Properties of the runtime. */
  readonly runtime?: FakeRuntimeOptions;
  /** Step of the clock. */
  readonly stepMs?: number | undefined;
  /** Latencies of the runtime, by default none. */
  readonly latencies?: {readonly runPodSandboxMs: number; readonly startContainerMs: number};
}

/** Address of every sandbox for hooks and probes: an unused loopback address of this machine. */
const POD_IP = `127.61.${process.pid & 255}.${1 + ((process.pid >> 8) & 127)}`;
/** Time at which the manifest is added. */
const ADDED_AT_MS = Date.parse('2026-05-01T12:00:00Z');
/** Time after which a driver has started and waits between two rounds. */
const PRELUDE_MS = 4000;
const IMAGE_ID = `sha256:${'b'.repeat(64)}`;

/** Creates a driver of `kcri sync` and `kcri delete`. */
const foreground: CreatePodDriver = (options) => new ForegroundDriver(options);

/**
 * Plays a case on the fake runtime: adds the manifest, performs the external actions at their times, and deletes the
 * manifest after the settle time.
 */
export async function playCase(
  name: string,
  {settleSeconds, createDriver = foreground, ...options}: PlayOptions = {},
): Promise<PlayResult> {
  const directory = await temporaryDirectory();
  const scratchDir = join(directory, 'scratch');
  await mkdir(scratchDir);
  const golden = readGoldenCase(name, scratchDir);
  const clock = new FakeClock({nowMs: ADDED_AT_MS - PRELUDE_MS});
  using advance = new AutoAdvance(clock, options.stepMs);
  await using fake = await startRuntime(scratchDir, clock, options);
  const node = {...GOLDEN_NODE, rootDir: join(directory, 'root'), podLogsDir: join(directory, 'logs')};
  await using testbed = new GoldenTestbed({
    golden,
    scratchDir,
    node,
    clock,
    fake,
    podIp: POD_IP,
    createDriver,
  });
  await testbed.prepare();
  for (const [seconds, verb, argument] of [
    [0, 'add', FIRST_MANIFEST_FILE] as const,
    ...golden.actions,
    [settleSeconds ?? golden.settleSeconds, 'delete'] as const,
  ]) {
    await clock.sleep(ADDED_AT_MS + seconds * 1000 - clock.now());
    await testbed.perform(verb, argument);
  }
  const {pods, podsBeforeDeletion, events, rejections} = testbed.driver;
  const environment = {
    ...goldenEnvironment(node, [POD_IP], new Map([[IMAGE_ID, BUSYBOX]])),
    scratchDir,
    pods: pods.map(({pod: {metadata}}) => ({name: metadata.name ?? '', uid: metadata.uid ?? ''})),
    substitutes: testbed.substitutes,
  };
  const labels = labelsOf(fake.calls, environment);
  return {
    lines: canonicalCalls(fake.calls, environment, collectProbeCommands(pods.map(({pod}) => pod))),
    pods: canonicalPods(podsBeforeDeletion, labels),
    events: canonicalEvents(events, labels),
    rejections: rejections.map((rejection) => labels.replaceInText(rejection)),
  };
}

async function startRuntime(
  scratchDir: string,
  clock: FakeClock,
  {runtime = {}, latencies}: Pick<PlayOptions, 'runtime' | 'latencies'>,
): Promise<FakeRuntime> {
  const busybox = {id: IMAGE_ID, cmd: ['sh'], size: 1_032_138};
  const fake = await FakeRuntime.start({
    socketPath: join(scratchDir, 'cri.sock'),
    images: [anImage({...busybox, name: BUSYBOX, repoDigests: []})],
    registry: [
      anImage({...busybox, name: 'localhost:15397/busybox:1'}),
      anImage({...busybox, name: 'localhost:15397/other', repoDigests: []}),
    ],
    behaviour: goldenBehaviour,
    exec: goldenExec,
    supplementalGroups: ['0'],
    podIps: [POD_IP],
    clock,
    ...runtime,
  });
  // As on machines without CRIU.
  fake.injectError('CheckpointContainer', {code: 'UNKNOWN', message: 'CRIU binary not found'});
  if (latencies !== undefined) {
    fake.injectDelay('RunPodSandbox', latencies.runPodSandboxMs);
    fake.injectDelay('StartContainer', latencies.startContainerMs, {afterEffect: true});
  }
  return fake;
}
