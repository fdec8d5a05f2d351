import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {applyDefaults} from '../../src/api/defaults.js';
import {decodeManifest} from '../../src/api/manifest.js';
import {systemClock} from '../../src/base/clock.js';
import {connect} from '../../src/cri/index.js';
import {toStaticPod} from '../../src/kubelet/config/static-pod.js';
import {NO_OBJECTS} from '../../src/kubelet/container/api-objects.js';
import type {NodeFacts} from '../../src/kubelet/container/node.js';
import {podRef} from '../../src/kubelet/container/pod-ref.js';
import {syncPodUntil} from '../../src/kubelet/foreground/sync-pods.js';
import {LocalPods, SILENT_OBSERVER} from '../../src/kubelet/local-pods.js';
import {NodePodFilesystem} from '../../src/kubelet/node-pod-filesystem.js';
import {temporaryDirectory} from '../base/temporary-directory.js';
import {anImage, BUSYBOX, FakeRuntime} from '../fakes/fake-runtime.js';
import {canonicalCalls, type CanonicalLine} from './canon.js';
import {GOLDEN_NODE, goldenWorld, readGoldenCase} from './cases.js';

/** Cases that one foreground sync and a delete play from beginning to end, and what the sync waits for. */
const CASES = {
  minimal: 'ready',
  'two-containers': 'ready',
  'env-refs': 'ready',
  'init-ok': 'ready',
  'never-exit0': 'complete',
  'res-guaranteed': 'ready',
  'vol-emptydir': 'ready',
  'no-command': 'complete',
  'uid-explicit': 'ready',
  'dns-default': 'ready',
  'grace-0': 'ready',
  'grace-30': 'ready',
  'host-network': 'ready',
  'host-pid-ipc': 'ready',
  'host-port': 'ready',
  'hostname-sub': 'ready',
  'init-fail-never': 'complete',
  'onfailure-exit0': 'complete',
  'sec-privileged': 'ready',
  'sec-procmount': 'ready',
  'sec-seccomp': 'ready',
  'share-pid': 'ready',
  sysctls: 'ready',
} as const;

/** Mounting a tmpfs takes root. */
const NEEDS_ROOT: ReadonlySet<string> = new Set(['vol-emptydir']);

const isRoot = process.getuid?.() === 0;

/** A shell without input ends, and so do the scripts of init containers. */
function endsAtOnce(argv: readonly string[]): boolean {
  return argv.join(' ') === 'sh' || argv.some((word) => word.includes('/data/x'));
}

/** Syncs and deletes the case's pod on the fake runtime, and gives the calls in canonical form. */
async function play(name: keyof typeof CASES): Promise<readonly CanonicalLine[]> {
  const directory = await temporaryDirectory();
  const node: NodeFacts = {
    ...GOLDEN_NODE,
    rootDir: join(directory, 'root'),
    podLogsDir: join(directory, 'logs'),
  };
  const image = anImage({name: BUSYBOX, cmd: ['sh']});
  const behaviour = (_: unknown, argv: readonly string[]) => (endsAtOnce(argv) ? {exitCode: 0} : undefined);
  await using fake = await FakeRuntime.start({images: [image], behaviour});
  using connection = connect(fake.endpoint);
  const pods = new LocalPods({
    services: connection,
    endpoint: fake.endpoint,
    node,
    runtimeName: 'fake',
    clock: systemClock,
    objects: NO_OBJECTS,
    files: (facts) => new NodePodFilesystem(facts, () => 0x0a1b2c3d + fake.calls.length, systemClock),
    observer: SILENT_OBSERVER,
  });
  const [document] = decodeManifest(readGoldenCase(name).manifest, {file: 'pod.yaml'});
  const pod = toStaticPod(applyDefaults(document!.pod), {
    nodeName: node.nodeName,
    file: '/etc/kubernetes/manifests/pod.yaml',
    seen: '2026-05-01T12:00:00.5Z',
  });
  const outcome = await syncPodUntil(
    pods,
    {pod, source: 'pod.yaml'},
    {wait: CASES[name], timeoutMs: 20_000, clock: systemClock, onStatus: () => undefined},
    new AbortController().signal,
  );
  expect(outcome.kind).toBe(CASES[name]);
  const ips = fake.sandboxes.flatMap((sandbox) => sandbox.ips);
  await pods.end((await pods.store.get(podRef(pod).uid))!);

  return canonicalCalls(fake.calls, goldenWorld(node, ips, new Map([[image.id, BUSYBOX]])));
}

describe('from manifest to running to deleted kcri makes the calls of kubelet 1.36.2', () => {
  for (const name of Object.keys(CASES) as (keyof typeof CASES)[]) {
    const needsRoot = NEEDS_ROOT.has(name);
    test.skipIf(needsRoot && !isRoot)(`${name}${needsRoot ? ' (needs root)' : ''}`, async () => {
      const recorded = readGoldenCase(name).lines.filter((line) => 'method' in line);

      expect(await play(name)).toEqual(recorded);
    });
  }
});
