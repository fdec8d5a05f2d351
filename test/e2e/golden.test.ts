import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, test} from 'vitest';
import {podSandboxId} from '../../src/cri/index.js';
import {canonicalCalls, type CanonicalLine} from '../golden/canon.js';
import {GOLDEN_NODE, readGoldenCase} from '../golden/cases.js';
import {startPodGround, type PodGround} from './harness/pod-ground.js';
import {startRecordingProxy, type RecordingProxy} from './harness/recording-proxy.js';
import {runtimes} from './harness/runtimes.js';

/** The cases, and what a sync waits for. The first nine are those that kcri promises to play. */
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
  'host-network': 'ready',
  'host-port': 'ready',
  'hostname-sub': 'ready',
  'onfailure-exit0': 'complete',
  'sec-privileged': 'ready',
  'share-pid': 'ready',
  'stop-signal': 'ready',
  'poststart-ok': 'ready',
  'prestop-exec': 'ready',
  'sidecar-job': 'complete',
  'res-pod-level': 'ready',
  'vol-downward': 'ready',
} as const;

type CaseName = keyof typeof CASES;

/** Nobody waits half a minute for the end of these: the comparison goes from the manifest to the running pod. */
const STOPS_SLOWLY: ReadonlySet<CaseName> = new Set(['minimal', 'two-containers']);

const RESOLV_CONF = 'nameserver 192.0.2.53\nsearch example.test\noptions ndots:2\n';

const NODE_IP = '192.0.2.2';

const NODE_ARGS = [
  ...['--static', '--hostname-override', GOLDEN_NODE.nodeName, '--node-ip', NODE_IP],
  ...['--cluster-dns', '10.96.0.10', '--cluster-domain', 'cluster.local'],
  ...['--node-memory', String(GOLDEN_NODE.memoryBytes), '--node-cpu', String(GOLDEN_NODE.cpuMilli / 1000n)],
];

/**
 * What the kernel of the machine decides and no flag can say: sizes of huge pages, accounting of swap, masked
 * throttle files, the second version of cgroups. test/golden/objects.test.ts compares these with injected facts.
 */
const KERNEL_FACTS: ReadonlySet<string> = new Set([
  'hugepage_limits',
  'memory_swap_limit_in_bytes',
  'unified',
]);

function withoutKernelFacts(lines: readonly CanonicalLine[]): unknown {
  return JSON.parse(
    JSON.stringify(lines, (key, value: unknown) => {
      if (KERNEL_FACTS.has(key)) return undefined;
      if (key !== 'masked_paths') return value;
      return (value as readonly string[]).filter((path) => !path.includes('thermal_throttle'));
    }),
  );
}

/** What the kubelet did to the runtime, to the end or until the manifest went away. */
function recorded(name: CaseName, toTheEnd: boolean): readonly CanonicalLine[] {
  const {lines} = readGoldenCase(name);
  const deleted = lines.findIndex((line) => 'mark' in line && line.mark === 'manifest-deleted');
  return (toTheEnd ? lines : lines.slice(0, deleted)).filter((line) => 'method' in line);
}

describe.each(runtimes)('kcri sync makes the calls of kubelet 1.36.2: $name', (which) => {
  let ground: PodGround;
  let resolvConf: string;
  beforeAll(async () => {
    ground = await startPodGround(which);
    resolvConf = join(ground.runtime.rootDir, 'resolv.conf');
    await writeFile(resolvConf, RESOLV_CONF);
  });
  afterAll(() => ground[Symbol.asyncDispose]());

  test.concurrent.for(Object.keys(CASES) as CaseName[])('%s', async (name, {expect}) => {
    const toTheEnd = !STOPS_SLOWLY.has(name);
    await using proxy = await startRecordingProxy(ground.runtime.endpoint);
    const env = {CONTAINER_RUNTIME_ENDPOINT: proxy.endpoint};
    const args = [...NODE_ARGS, '--resolv-conf', resolvConf, '--wait', CASES[name]];
    expect(await ground.sync(readGoldenCase(name).manifest, args, {env})).toMatchObject({
      exitCode: 0,
      stderr: '',
    });
    const {uid, podIps} = await madeBy(proxy);
    const untilRunning = proxy.calls.length;
    const grace = toTheEnd ? [] : ['--grace-period', '0'];
    expect(await ground.runtime.kcri(['delete', uid, ...grace], {env})).toMatchObject({exitCode: 0});

    const world = {
      nodeName: GOLDEN_NODE.nodeName,
      nodeIp: NODE_IP,
      rootDir: ground.runtime.rootDir,
      logsDir: ground.logsDir,
      cgroupRoot: ground.cgroupRoot,
      podIps,
      images: await imageTags(),
    };
    const calls = canonicalCalls(toTheEnd ? proxy.calls : proxy.calls.slice(0, untilRunning), world);
    expect(withoutKernelFacts(calls)).toEqual(withoutKernelFacts(recorded(name, toTheEnd)));
  });

  /** The pod whose sandbox was made through the proxy. */
  async function madeBy({calls}: RecordingProxy): Promise<{uid: string; podIps: readonly string[]}> {
    const made = calls.find(({method}) => method === 'RunPodSandbox')?.response as {podSandboxId: string};
    const {status} = await ground.runtime.connection.runtime.podSandboxStatus({
      podSandboxId: podSandboxId(made.podSandboxId),
    });
    const ip = status?.network?.ip ?? '';
    return {uid: status?.metadata?.uid ?? '', podIps: ip === '' || ip === NODE_IP ? [] : [ip]};
  }

  async function imageTags(): Promise<ReadonlyMap<string, string>> {
    const {images} = await ground.runtime.connection.images.listImages();
    return new Map(images.map(({id}) => [id, 'localhost:5000/busybox:1']));
  }
});
