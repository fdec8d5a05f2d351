import {mkdir} from 'node:fs/promises';
import {join} from 'node:path';
import {temporaryDirectory} from '../base/temporary-directory.js';
import {anImage, BUSYBOX, FakeRuntime, type FakeRuntimeOptions} from '../fakes/fake-runtime.js';
import {goldenBehaviour, goldenExec} from './golden-behaviour.js';
import {canonicalEvents, canonicalPods, type CanonicalEvent} from './canonical/canonical-pods.js';
import {canonicalCalls, labelsOf, type CanonicalLine, type JsonObject} from './canonical/canonical-calls.js';
import {GOLDEN_NODE, goldenEnvironment, readGoldenCase} from './golden-cases.js';
import {ForegroundDriver} from './drivers/foreground-driver.js';
import type {CreatePodDriver} from './drivers/pod-driver.js';
import {collectProbeCommands} from './canonical/probe-calls.js';
import {FIRST_MANIFEST_FILE, GoldenScene} from './golden-scene.js';
import {AutoAdvance, FakeClock} from '../fakes/fake-clock.js';

/** What kcri did with a case, in canonical form. */
export interface PlayResult {
  readonly lines: readonly CanonicalLine[];
  /** Just before the manifests went. */
  readonly pods: readonly JsonObject[];
  readonly events: readonly CanonicalEvent[];
  /** What was refused, and why, when that doesn't throw. */
  readonly rejections: readonly string[];
}

/** How a case is played. */
export interface PlayOptions {
  /** From the manifest's coming to its going; as recorded without it. */
  readonly settleSeconds?: number | undefined;
  /** Who keeps the pods: commands in the foreground by default. */
  readonly createDriver?: CreatePodDriver;
  /** What the runtime is like. */
  readonly runtime?: FakeRuntimeOptions;
  /** How far the time goes at once. */
  readonly stepMs?: number | undefined;
  /** How long it takes to make a sandbox, and to start a container; no time by default. */
  readonly latencies?: {readonly runPodSandboxMs: number; readonly startContainerMs: number};
}

/** The address of every sandbox, for hooks and probes: one that this machine answers at, and no other process uses. */
const POD_IP = `127.61.${process.pid & 255}.${1 + ((process.pid >> 8) & 127)}`;
/** When a case's manifest is added. */
const ADDED_AT_MS = Date.parse('2026-05-01T12:00:00Z');
/** By then whatever keeps pods has begun, and is between two of its rounds. */
const PRELUDE_MS = 4000;
const IMAGE_ID = `sha256:${'b'.repeat(64)}`;

/** `kcri sync` and `kcri delete`. */
const foreground: CreatePodDriver = (options) => new ForegroundDriver(options);

/**
 * Plays a case from beginning to end on the fake runtime: the manifest comes, what was done from outside is done at
 * its time, the manifest goes after its settle time.
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
  await using scene = new GoldenScene({golden, scratchDir, node, clock, fake, podIp: POD_IP, createDriver});
  await scene.prepare();
  for (const [seconds, verb, argument] of [
    [0, 'add', FIRST_MANIFEST_FILE] as const,
    ...golden.actions,
    [settleSeconds ?? golden.settleSeconds, 'delete'] as const,
  ]) {
    await clock.sleep(ADDED_AT_MS + seconds * 1000 - clock.now());
    await scene.perform(verb, argument);
  }
  const {pods, podsBeforeDeletion, events, rejections} = scene.driver;
  const world = {
    ...goldenEnvironment(node, [POD_IP], new Map([[IMAGE_ID, BUSYBOX]])),
    scratchDir,
    pods: pods.map(({pod: {metadata}}) => ({name: metadata.name ?? '', uid: metadata.uid ?? ''})),
    substitutes: scene.substitutes,
  };
  const labels = labelsOf(fake.calls, world);
  return {
    lines: canonicalCalls(fake.calls, world, collectProbeCommands(pods.map(({pod}) => pod))),
    pods: canonicalPods(podsBeforeDeletion, labels),
    events: canonicalEvents(events, labels),
    rejections: rejections.map((refusal) => labels.replaceInText(refusal)),
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
  // As on every machine without CRIU.
  fake.injectError('CheckpointContainer', {code: 'UNKNOWN', message: 'CRIU binary not found'});
  if (latencies !== undefined) {
    fake.injectDelay('RunPodSandbox', latencies.runPodSandboxMs);
    fake.injectDelay('StartContainer', latencies.startContainerMs, {afterEffect: true});
  }
  return fake;
}
