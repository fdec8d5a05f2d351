import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, test, vi} from 'vitest';
import type {ContainerStatus, PodStatus} from '../../../src/api/types/v1-status.js';
import {callsByPod, type CanonicalLine} from '../../golden/canonical/canonical-calls.js';
import {GOLDEN_CASES, readGoldenCase} from '../../golden/golden-cases.js';
import {parityOf, type Parity} from '../../golden/parity.js';
import {compareContainerFacts, listRunningContainers} from '../harness/container-facts.js';
import {GoldenPlay, type GoldenTestbed} from '../harness/golden-play.js';
import {shellCommand} from '../harness/manifests.js';
import {startPodTestbed, type PodTestbed} from '../harness/pod-testbed.js';
import {startImageRegistry, type ImageRegistry} from '../harness/image-registry.js';
import {runtimes} from '../harness/runtimes-under-test.js';

/*
 * Every recorded case is played here but those of which test/golden/parity.ts says that they need a kubelet that runs
 * on, and why. A new case is played without being named here.
 */

// Most of the time a case waits: for a back-off, a grace period, the runtime.
vi.setConfig({maxConcurrency: 10});

/** What containers show beyond how they were made (see golden-inside.ts), by case. */
const SHOWN: Readonly<Record<string, (look: Look) => Promise<void>>> = {
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

/** A case whose pod stands. */
interface Look {
  /** What a shell script says in the running container of that name. */
  readonly run: (container: string, script: string) => Promise<string>;
}

/** What only one case can have at a time, on one runtime or on the machine; undefined when it needs nothing alone. */
function soleNeed(name: string, runtime: string): string | undefined {
  if (name === 'host-port') return "the machine's port 38080";
  if (name === 'minimal' || name === 'multi-pod') return `the pod minimal on ${runtime}`;
  // Together they ask for more than the two CPUs of the recordings' node.
  return readGoldenCase(name).manifest.includes('cpu: ') ? `CPUs on ${runtime}` : undefined;
}

/**
 * What the kernel of the machine decides and no flag can say: sizes of huge pages, accounting of swap, masked
 * throttle files, the second version of cgroups. test/golden/cri-configs.test.ts compares these with injected facts.
 */
const KERNEL_FACTS: ReadonlySet<string> = new Set([
  'hugepage_limits',
  'memory_swap_limit_in_bytes',
  'unified',
]);

/** The manifests name it, and a container's hash depends on its image's name. */
const REGISTRY_PORT = 15_397;

/** The exit code of a sync that SIGINT ends. */
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

/** The containers that ran when the case was recorded, and how the others ended. */
function recordedStates(name: string): readonly ContainerStatus[] {
  return readGoldenCase(name).pods.flatMap(({status}) => {
    const {initContainerStatuses = [], containerStatuses = []} = status as PodStatus;
    return [...initContainerStatuses, ...containerStatuses];
  });
}

/** Those that take longest first, since they mostly wait. */
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

/** Cases in which the runtime decides: not every one can do what was asked of that of the recordings, and conversely. */
const BY_RUNTIME = ['image-volume', 'sec-userns'];
/** Cases that probe or have a deadline: what they do depends on time, which only a runtime of the tests keeps to. */
const BY_TIME = [
  ...['active-deadline', 'kubelet-restart', 'liveness-exec', 'readiness-http', 'sidecar', 'startup-probe'],
];
const ELSEWHERE = [...BY_RUNTIME, ...BY_TIME];
const PLAYED = byDuration(casesOf('equal').filter((name) => !ELSEWHERE.includes(name)));
const REFUSED = casesOf('rejected', 'explained');
/** What a kubelet without an API server doesn't run. */
const RUN = casesOf('runs');
const TOLD = casesOf('reported');

test('every recorded case is played here, except those that need a running kubelet', () => {
  const here = [...PLAYED, ...ELSEWHERE, ...REFUSED, ...RUN, ...TOLD];
  expect([...here, ...casesOf('missing')].toSorted()).toEqual(GOLDEN_CASES);
});

let registry: ImageRegistry;
beforeAll(async () => {
  registry = await startImageRegistry(undefined, REGISTRY_PORT);
  // An image of another content: one that has been pulled counts as pulled under all its names.
  await registry.pushUnique('busybox', '1');
  await registry.pushUnique('other', 'latest');
});
afterAll(() => registry[Symbol.asyncDispose]());

/** Who has a thing that only one can have at a time, and who waits for it. */
class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  async run(thing: string | undefined, act: () => Promise<void>): Promise<void> {
    if (thing === undefined) {
      await act();
      return;
    }
    const done = (this.#last.get(thing) ?? Promise.resolve()).then(act, act);
    this.#last.set(thing, done);
    await done;
  }
}

const turns = new Turns();

describe.concurrent.each(runtimes)('kcri sync makes the calls of kubelet 1.36.2: $name', (which) => {
  let ground: PodTestbed;
  let where: GoldenTestbed;
  beforeAll(async () => {
    ground = await startPodTestbed(which);
    const resolvConf = join(ground.runtime.rootDir, 'resolv.conf');
    await writeFile(resolvConf, RESOLV_CONF);
    where = {testbed: ground, resolvConf};
  });
  afterAll(() => ground[Symbol.asyncDispose]());

  /** Asks every running container whether it is what its calls asked for; gives their names. */
  async function lookAround(play: GoldenPlay, name: string): Promise<readonly string[]> {
    const running = await listRunningContainers(ground, play.calls);
    for (const container of running) {
      const {asked, found} = await compareContainerFacts(ground, container);
      expect(found, container.name).toEqual(asked);
    }
    const idOf = (wanted: string) => running.find((container) => container.name === wanted)!.id;
    await SHOWN[name]?.({run: (container, script) => ground.exec(idOf(container), ...shellCommand(script))});
    return running.map((container) => container.name).toSorted();
  }

  async function playWhole(name: string): Promise<void> {
    await turns.run(soleNeed(name, which.name), async () => {
      await playAlone(name);
    });
  }

  async function playAlone(name: string): Promise<void> {
    await using play = await GoldenPlay.start(where, name);
    await play.playUntilDeletion();
    const states = recordedStates(name);
    const running = states.filter(({state}) => state?.running).map((container) => container.name);
    expect(await lookAround(play, name)).toEqual(running.toSorted());
    const results = await play.delete();
    const failed = states.find(({state}) => (state?.terminated?.exitCode ?? 0) !== 0);
    const exitCode = play.hasEnded ? (failed?.state?.terminated?.exitCode ?? 0) : INTERRUPTED;
    expect(new Set(results.map((result) => result.exitCode))).toEqual(new Set([exitCode]));
    expect(comparable(await play.canonicalCalls())).toEqual(comparable(play.golden.lines));
  }

  /** Plays what is not in the recording: the pod's containers start, and find what they asked for. */
  async function playFreely(name: string): Promise<void> {
    await turns.run(soleNeed(name, which.name), async () => {
      await playUnrecorded(name);
    });
  }

  async function playUnrecorded(name: string): Promise<void> {
    await using play = await GoldenPlay.start(where, name);
    play.add();
    await play.waitForCalls((made) => made.length >= START_OF_ONE_CONTAINER.length);
    expect((await play.canonicalCalls()).map(({method}) => method)).toEqual(START_OF_ONE_CONTAINER);
    expect(await lookAround(play, name)).toEqual(['main']);
    expect(await play.delete()).toMatchObject([{exitCode: INTERRUPTED}]);
  }

  /** Plays what doesn't get further than to these words. */
  async function playInVain(name: string, words: RegExp): Promise<GoldenPlay> {
    await using play = await GoldenPlay.start(where, name);
    await play.add().waitForOutput(words);
    expect(await play.delete()).toMatchObject([{exitCode: INTERRUPTED}]);
    return play;
  }

  test.for(PLAYED)('%s', playWhole);

  test.for(RUN)('%s: containers have the requested properties', playFreely);

  test('runtimeclass-missing: no call is made, and kcri reports the reason', async () => {
    const play = await playInVain('runtimeclass-missing', /runtimeclass.node.k8s.io \\"nosuch\\" not found/);
    expect(comparable(await play.canonicalCalls())).toEqual(comparable(play.golden.lines));
  });

  test("sec-userns: users are mapped if the runtime supports it, otherwise the calls equal the kubelet's", async () => {
    const {runtimeHandlers} = await ground.runtime.connection.runtime.status({});
    const canMap = runtimeHandlers.some(
      ({name, features}) => name === '' && features?.userNamespaces === true,
    );
    await (canMap ? playFreely : playWhole)('sec-userns');
  });

  test('image-volume: an image is mounted if the runtime supports it', async () => {
    if (which.name.startsWith('containerd 1.'))
      await playInVain('image-volume', /failed to (?:mkdir|stat) \\"\\"/);
    else await playWhole('image-volume');
  });

  test.for(REFUSED)('%s: is rejected without a call', async (name) => {
    await using play = await GoldenPlay.start(where, name);
    expect(await play.add().exited).toMatchObject({exitCode: 1, stdout: ''});
    expect(play.calls).toEqual([]);
  });
});
