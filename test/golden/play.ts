import {mkdir} from 'node:fs/promises';
import {join} from 'node:path';
import {temporaryDirectory} from '../base/temporary-directory.js';
import {anImage, BUSYBOX, FakeRuntime} from '../fakes/fake-runtime.js';
import {goldenBehaviour, goldenExec} from './behaviour.js';
import {canonicalEvents, canonicalPods, type CanonicalEvent} from './canon-pod.js';
import {canonicalCalls, labelsOf, type CanonicalLine, type JsonObject} from './canon.js';
import {GOLDEN_NODE, goldenWorld, readGoldenCase} from './cases.js';
import {FIRST_FILE, GoldenScene} from './scene.js';
import {SteppingClock} from './stepping-clock.js';

/** What kcri did with a case, in canonical form. */
export interface Played {
  readonly lines: readonly CanonicalLine[];
  /** Just before the manifests went. */
  readonly pods: readonly JsonObject[];
  readonly events: readonly CanonicalEvent[];
}

/** The address of every sandbox: one that this machine answers at, for hooks that are HTTP requests. */
const POD_IP = '127.61.7.1';
/** When a case's manifest is added. */
const ADDED_AT_MS = Date.parse('2026-05-01T12:00:00Z');
const IMAGE_ID = `sha256:${'b'.repeat(64)}`;

/**
 * Plays a case from beginning to end on the fake runtime, through the kubelet's public door: the manifest comes,
 * what was done from outside is done at its time, the manifest goes after its settle time. `change` leaves out of the
 * manifest what can't be played.
 */
export async function playCase(
  name: string,
  settleSeconds?: number,
  change = (manifest: string): string => manifest,
): Promise<Played> {
  const directory = await temporaryDirectory();
  const scratchDir = join(directory, 'scratch');
  await mkdir(scratchDir);
  const recorded = readGoldenCase(name, scratchDir);
  const golden = {...recorded, file: (file: string) => change(recorded.file(file))};
  using clock = new SteppingClock(ADDED_AT_MS);
  await using fake = await startRuntime(scratchDir, clock);
  const node = {...GOLDEN_NODE, rootDir: join(directory, 'root'), podLogsDir: join(directory, 'logs')};
  await using scene = new GoldenScene({golden, scratchDir, node, clock, fake, podIp: POD_IP});
  await scene.prepare();
  await scene.act('add', FIRST_FILE);
  for (const [seconds, verb, argument] of [
    ...golden.actions,
    [settleSeconds ?? golden.settleSeconds, 'delete'] as const,
  ]) {
    await clock.sleep(ADDED_AT_MS + seconds * 1000 - clock.now());
    await scene.act(verb, argument);
  }
  const world = {
    ...goldenWorld(node, [POD_IP], new Map([[IMAGE_ID, BUSYBOX]])),
    scratchDir,
    pods: scene.shown.map(({pod: {metadata}}) => ({name: metadata.name ?? '', uid: metadata.uid ?? ''})),
    doubles: scene.doubles,
  };
  const labels = labelsOf(fake.calls, world);
  return {
    lines: canonicalCalls(fake.calls, world),
    pods: canonicalPods(scene.left, labels),
    events: canonicalEvents(scene.events, labels),
  };
}

async function startRuntime(scratchDir: string, clock: SteppingClock): Promise<FakeRuntime> {
  const busybox = {id: IMAGE_ID, cmd: ['sh'], size: 1_032_138};
  return await FakeRuntime.start({
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
  });
}
