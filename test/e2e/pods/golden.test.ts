import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, test, vi} from 'vitest';
import type {ContainerStatus, PodStatus} from '../../../src/api/types/v1-status.js';
import {
  callsByPod,
  type CanonicalCall,
  type CanonicalLine,
} from '../../../src/recording/canonical/canonical-calls.js';
import {until} from '../../base/until.js';
import {GOLDEN_CASES, readGoldenCase, type GoldenCase} from '../../golden/golden-cases.js';
import {parityOf, type Parity} from '../../golden/parity.js';
import {compareContainerFacts, listRunningContainers} from '../harness/container-facts.js';
import {GoldenPlay, type GoldenNode} from '../harness/golden-play.js';
import {shellCommand} from '../harness/manifests.js';
import {startPodTestbed, type PodTestbed} from '../harness/pod-testbed.js';
import {startImageRegistry, type ImageRegistry} from '../harness/image-registry.js';
import {newestRuntime, runtimes, selectCases} from '../harness/runtimes-under-test.js';

/*
 * Plays every recorded case, except those that need a running kubelet according to test/golden/parity.ts. New cases are
 * included automatically. `npm test` plays a selection on each runtime, `npm run test:full` plays all on both.
 */

// A case mostly waits: for a back-off, a grace period or the runtime. An emulated processor cannot run many programs at a time.
vi.setConfig({maxConcurrency: Number(process.env['KCRI_TEST_CONCURRENCY'] ?? 10)});

/** Additional checks inside the containers of a case, besides those of container-facts.ts. */
const EXTRA_CHECKS: Readonly<Record<string, (running: RunningCase) => Promise<void>>> = {
  'host-port': async () => {
    const answer = await fetch('http://127.0.0.1:38080/etc/passwd');
    expect(await answer.text()).toContain('root:x:0:0');
  },
  'init-ok': async ({run}) => {
    expect(await run('main', 'cat /data/x')).toBe('1');
  },
  'image-volume': async ({run}) => {
    expect(await run('main', 'ls /img/bin/busybox')).toBe('/img/bin/busybox');
  },
  'poststart-ok': async ({run}) => {
    expect(await run('main', 'cat /tmp/p')).toBe('hi');
  },
  'share-pid': async ({run}) => {
    expect(await run('b', 'ps | grep -c "[s]leep 3600"')).toBe('2');
  },
  'vol-downward': async ({run}) => {
    expect(await run('main', 'cat /d/labels; echo; cat /d/annotations; echo; cat /d/cpu')).toMatch(
      /^app="d"\nb="c".*\nz="q\\"x"\n500$/s,
    );
    expect(await run('main', 'stat -L -c "%a %g" /d/labels /d/annotations')).toBe('440 2000\n444 2000');
  },
  'vol-emptydir': async ({run}) => {
    expect(await run('main', 'stat -c %a /a /m')).toBe('777\n1777');
    expect(await run('main', 'grep " /m " /proc/mounts')).toMatch(/^tmpfs \/m tmpfs .*size=4096k/);
  },
  'vol-hostpath': async ({run}) => {
    expect(await run('main', 'cat /file; stat -c %F /none /dirc /filec /sock /chr /blk')).toBe(
      [
        'f',
        'directory',
        'directory',
        'regular empty file',
        'socket',
        'character special file',
        'block special file',
      ].join('\n'),
    );
  },
  'vol-projected': async ({run}) => {
    expect(await run('main', 'cat /p/a/name; echo; cat /p/b/mem')).toBe('vproj-goldennode\n33554432');
  },
  'vol-subpath': async ({run}) => {
    await run('main', 'touch /s/from-main');
    expect(await run('second', 'cd /all; find | sort; ls /s')).toBe(
      '.\n./vsub-goldennode\n./vsub-goldennode/z\n./x\n./x/y\n./x/y/from-main\nfrom-main',
    );
    expect(await run('main', 'cat /f')).toBe('f');
  },
};

/** A case whose pod is running. */
interface RunningCase {
  /** Returns the output of a shell script in the running container of that name. */
  readonly run: (container: string, script: string) => Promise<string>;
}

/**
 * Returns the resource that only one case can use at a time, on one runtime or on the machine; undefined if the case
 * needs none.
 */
function exclusiveResource(name: string, runtime: string): string | undefined {
  if (name === 'host-port') return "the machine's port 38080";
  if (name === 'minimal' || name === 'multi-pod') return `the pod minimal on ${runtime}`;
  if (name === 'kill-sandbox') return `the pod kills on ${runtime}`;
  // Together these cases request more than the two CPUs of the recorded node.
  return readGoldenCase(name).manifest.includes('cpu: ') ? `CPUs on ${runtime}` : undefined;
}

/**
 * Fields that depend on the machine's kernel and cannot be set with flags: huge page sizes, swap accounting, masked
 * throttle files and the cgroup version. test/golden/cri-configs.test.ts compares these with injected facts.
 */
const KERNEL_FACTS: ReadonlySet<string> = new Set([
  'hugepage_limits',
  'memory_swap_limit_in_bytes',
  'unified',
]);

/** Port of the registry in the manifests; the hash of a container depends on its image name. */
const REGISTRY_PORT = 15_397;

/** Exit code of a sync interrupted by SIGINT. */
const INTERRUPTED = 130;

const START_OF_ONE_CONTAINER: readonly string[] = ['RunPodSandbox', 'CreateContainer', 'StartContainer'];

const RESOLV_CONF = 'nameserver 192.0.2.53\nsearch example.test\noptions ndots:2\n';

function comparable(lines: readonly CanonicalLine[]): unknown {
  return JSON.parse(
    JSON.stringify(callsByPod(lines), (key, value: unknown) => {
      if (KERNEL_FACTS.has(key)) return undefined;
      if (key !== 'masked_paths') return value;
      return (value as readonly string[]).filter((path) => !path.includes('thermal_throttle'));
    }),
  );
}

/** Shortest grace period of a container in s, however long its preStop hook takes. */
const MIN_GRACE_S = 2;

/**
 * Returns the calls with the recorded grace periods of containers with a preStop hook where theirs are shorter: what is
 * left after the hook, in whole seconds, depends on the speed of the machine.
 */
function withRecordedGrace(
  made: readonly CanonicalCall[],
  {manifest, lines}: GoldenCase,
): readonly CanonicalCall[] {
  if (!manifest.includes('preStop')) return made;
  return made.map((call) => {
    const recorded = lines.find(
      (line) =>
        'method' in line &&
        line.method === call.method &&
        line.req['container_id'] === call.req['container_id'],
    );
    if (call.method !== 'StopContainer' || recorded === undefined || !('method' in recorded)) return call;
    const [grace, whole] = [call, recorded].map(({req}) => Number(req['timeout'])) as [number, number];
    const isShorter = grace >= MIN_GRACE_S && grace < whole;
    const isInTime = call.timeout_s - grace === recorded.timeout_s - whole;
    return isShorter && isInTime ? {...call, req: recorded.req, timeout_s: recorded.timeout_s} : call;
  });
}

/**
 * Derives a case in which another client stops the sandbox instead of killing its process: its containers have exited
 * by then, and a kubelet only stops those that run (killPodWithSyncResult).
 */
function stopsSandboxInstead(recorded: GoldenCase): GoldenCase {
  const at = recorded.lines.findIndex((line) => 'mark' in line && line.mark === 'kill-sandbox');
  const [before, after] = [recorded.lines.slice(0, at), recorded.lines.slice(at + 1)];
  const stop = after.findIndex((line) => 'method' in line && line.method === 'StopContainer');
  return {...recorded, lines: [...before, {mark: 'rm-sandbox'}, ...after.toSpliced(stop, 1)]};
}

/** Returns the recorded container statuses of a case. */
function recordedStates(name: string): readonly ContainerStatus[] {
  return readGoldenCase(name).pods.flatMap(({status}) => {
    const {initContainerStatuses = [], containerStatuses = []} = status as PodStatus;
    return [...initContainerStatuses, ...containerStatuses];
  });
}

/** Sorts cases by duration, longest first, since they mostly wait. */
function byDuration(names: readonly string[]): readonly string[] {
  const seconds = (name: string): number => {
    const {settleSeconds, manifest} = readGoldenCase(name);
    const [, grace = '30'] = /terminationGracePeriodSeconds: (\d+)/.exec(manifest) ?? [];
    return settleSeconds + Number(grace);
  };
  return names.toSorted((a, b) => seconds(b) - seconds(a));
}

const casesOf = (...kinds: readonly Parity['kind'][]): readonly string[] =>
  GOLDEN_CASES.filter((name) => kinds.includes(parityOf(name, 'foreground').kind));

/** Cases that depend on the features of the runtime, which differ from those of the recorded one. */
const BY_RUNTIME = ['image-volume', 'sec-userns'];
/** Cases with probes or a deadline. Their calls depend on time, so they are only played on the fake runtime. */
const BY_TIME = [
  ...['active-deadline', 'kubelet-restart', 'liveness-exec', 'readiness-http', 'sidecar', 'startup-probe'],
];
const ELSEWHERE = [...BY_RUNTIME, ...BY_TIME];
const PLAYED = byDuration(casesOf('equal').filter((name) => !ELSEWHERE.includes(name)));
const REFUSED = casesOf('rejected', 'explained');
/** Cases that a kubelet without an API server does not run. */
const RUN = casesOf('runs');
/** Cases that `npm test` also plays on the older runtime: those whose calls or properties a runtime implements. */
const ON_OLDER_RUNTIME: ReadonlySet<string> = new Set([
  ...['dns-default', 'env-refs', 'host-network', 'host-port', 'init-ok', 'kill-sandbox', 'poststart-ok'],
  ...['prestop-exec', 'res-guaranteed', 'sec-privileged', 'sec-seccomp', 'share-pid', 'sysctls'],
  ...['termination-message', 'vol-emptydir', 'vol-subpath'],
]);
/** Cases that `npm test` plays on the newest runtime: these, those with additional checks, and a third of the others. */
const ON_NEWEST_RUNTIME: ReadonlySet<string> = new Set([
  ...[...ON_OLDER_RUNTIME, ...Object.keys(EXTRA_CHECKS), ...RUN],
  ...[...selectCases(PLAYED, 3), ...selectCases(REFUSED, 6)],
]);
const REPORTED = casesOf('reported');

test('every recorded case is played here, except those that need a running kubelet', () => {
  const here = [...PLAYED, ...ELSEWHERE, ...REFUSED, ...RUN, ...REPORTED];
  expect([...here, ...casesOf('missing')].toSorted()).toEqual(GOLDEN_CASES);
});

let registry: ImageRegistry;
beforeAll(async () => {
  registry = await startImageRegistry(undefined, REGISTRY_PORT);
  // Images with different content, since a pulled image counts as pulled under all its names.
  await registry.pushUnique('busybox', '1');
  await registry.pushUnique('other', 'latest');
});
afterAll(() => registry[Symbol.asyncDispose]());

/** Serializes the cases that need the same resource. */
class ResourceQueue {
  readonly #last = new Map<string, Promise<unknown>>();

  async run(resource: string | undefined, act: () => Promise<void>): Promise<void> {
    if (resource === undefined) {
      await act();
      return;
    }
    const done = (this.#last.get(resource) ?? Promise.resolve()).then(act, act);
    this.#last.set(resource, done);
    await done;
  }
}

const queue = new ResourceQueue();

describe.concurrent.each(runtimes)('kcri sync makes the calls of kubelet 1.36.2: $name', (which) => {
  const isPlayed = (name: string): boolean =>
    (newestRuntime.includes(which) ? ON_NEWEST_RUNTIME : ON_OLDER_RUNTIME).has(name);
  let testbed: PodTestbed;
  let node: GoldenNode;
  beforeAll(async () => {
    testbed = await startPodTestbed(which);
    const resolvConf = join(testbed.runtime.rootDir, 'resolv.conf');
    await writeFile(resolvConf, RESOLV_CONF);
    node = {testbed, resolvConf};
  });
  afterAll(() => testbed[Symbol.asyncDispose]());

  /** Checks that every running container has the requested properties. Returns the names of the containers. */
  async function checkContainers(play: GoldenPlay, name: string): Promise<readonly string[]> {
    const running = await listRunningContainers(testbed, play.calls);
    for (const container of running) {
      const {requested, found} = await compareContainerFacts(testbed, container);
      expect(found, container.name).toEqual(requested);
    }
    const idOf = (wanted: string) => running.find((container) => container.name === wanted)!.id;
    await EXTRA_CHECKS[name]?.({
      run: (container, script) => testbed.exec(idOf(container), ...shellCommand(script)),
    });
    return running.map((container) => container.name).toSorted();
  }

  async function playRecorded(name: string): Promise<void> {
    await playDerived(name);
  }

  /** Plays a recorded case, or one that is derived from it. */
  async function playDerived(name: string, change?: (recorded: GoldenCase) => GoldenCase): Promise<void> {
    await queue.run(exclusiveResource(name, which.name), async () => {
      await playNow(name, change);
    });
  }

  async function playNow(name: string, change?: (recorded: GoldenCase) => GoldenCase): Promise<void> {
    await using play = await GoldenPlay.start(node, name, change);
    await play.playUntilDeletion();
    const states = recordedStates(name);
    const running = states.filter(({state}) => state?.running).map((container) => container.name);
    // A replaced container may be starting again.
    await until(async () => (await listRunningContainers(testbed, play.calls)).length === running.length);
    expect(await checkContainers(play, name)).toEqual(running.toSorted());
    const results = await play.delete();
    const failed = states.find(({state}) => (state?.terminated?.exitCode ?? 0) !== 0);
    const exitCode = play.hasEnded ? (failed?.state?.terminated?.exitCode ?? 0) : INTERRUPTED;
    expect(new Set(results.map((result) => result.exitCode))).toEqual(new Set([exitCode]));
    const made = withRecordedGrace(await play.canonicalCalls(), play.golden);
    expect(comparable(made)).toEqual(comparable(play.golden.lines));
  }

  /** Plays a case that differs from its recording: the containers start and have the requested properties. */
  async function playUnrecorded(name: string): Promise<void> {
    await queue.run(exclusiveResource(name, which.name), async () => {
      await playUnrecordedNow(name);
    });
  }

  async function playUnrecordedNow(name: string): Promise<void> {
    await using play = await GoldenPlay.start(node, name);
    play.add();
    await play.waitForCalls((made) => made.length >= START_OF_ONE_CONTAINER.length);
    expect((await play.canonicalCalls()).map(({method}) => method)).toEqual(START_OF_ONE_CONTAINER);
    expect(await checkContainers(play, name)).toEqual(['main']);
    expect(await play.delete()).toMatchObject([{exitCode: INTERRUPTED}]);
  }

  /** Plays a case that fails with a matching message. */
  async function playFailure(name: string, message: RegExp): Promise<GoldenPlay> {
    await using play = await GoldenPlay.start(node, name);
    await play.add().waitForOutput(message);
    expect(await play.delete()).toMatchObject([{exitCode: INTERRUPTED}]);
    return play;
  }

  test.for(PLAYED.filter(isPlayed))('%s', playRecorded);

  test('kill-sandbox: a sandbox that another client stops is replaced in the same way', async () => {
    await playDerived('kill-sandbox', stopsSandboxInstead);
  });

  test.for(RUN.filter(isPlayed))('%s: containers have the requested properties', playUnrecorded);

  test('runtimeclass-missing: no call is made, and kcri reports the reason', async () => {
    const play = await playFailure('runtimeclass-missing', /runtimeclass.node.k8s.io \\"nosuch\\" not found/);
    expect(comparable(await play.canonicalCalls())).toEqual(comparable(play.golden.lines));
  });

  test("sec-userns: users are mapped if the runtime supports it, otherwise the calls equal the kubelet's", async () => {
    const {runtimeHandlers} = await testbed.runtime.connection.runtime.status({});
    const canMap = runtimeHandlers.some(
      ({name, features}) => name === '' && features?.userNamespaces === true,
    );
    await (canMap ? playUnrecorded : playRecorded)('sec-userns');
  });

  test('image-volume: an image is mounted if the runtime supports it', async () => {
    if (which.name.startsWith('containerd 1.'))
      await playFailure('image-volume', /failed to (?:mkdir|stat) \\"\\"/);
    else await playRecorded('image-volume');
  });

  test.for(REFUSED.filter(isPlayed))('%s: is rejected without a call', async (name) => {
    await using play = await GoldenPlay.start(node, name);
    expect(await play.add().exited).toMatchObject({exitCode: 1, stdout: ''});
    expect(play.calls).toEqual([]);
  });
});
