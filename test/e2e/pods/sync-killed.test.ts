import {existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {basename, join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {until} from '../../base/until.js';
import {aContainerSpec, aManifest, isMutatingCall} from '../../commands/command-testbed.js';
import {FakeRuntime, type RecordedCall} from '../../fakes/fake-runtime.js';
import type {Rpc} from '../../fakes/runtime/cri-messages.js';
import {startKcriProcess, type KcriResult, type KcriProcess} from '../harness/kcri-process.js';
import {removeCgroupRoot} from '../harness/pod-cgroups.js';
import {selectCases} from '../harness/runtimes-under-test.js';

/*
 * Kills a kcri process at each of its CRI calls in turn, while a fake runtime holds the call; directories, mounts and
 * links are real. sync-interrupted.test.ts does so on real runtimes at a few calls.
 */

const UID = '5c0a51de-7a0b-4d0e-9f53-0d2f6c1b9e77';
/** Longer than any test takes: a held call ends with the kcri process that made it. */
const HELD_MS = 600_000;

/** Returns a ConfigMap and a pod of three containers with an init container, a sidecar and five volumes. */
function manifest(directory: string): string {
  const pod = aManifest({
    name: 'whole',
    metadata: {uid: UID},
    initContainers: [
      aContainerSpec('setup', {command: ['true'], volumeMounts: [{name: 'scratch', mountPath: '/s'}]}),
      aContainerSpec('side', {restartPolicy: 'Always'}),
    ],
    containers: [
      aContainerSpec('one', {
        volumeMounts: [
          {name: 'memory', mountPath: '/m'},
          {name: 'scratch', mountPath: '/part', subPath: 'a/b'},
        ],
      }),
      aContainerSpec('two', {
        volumeMounts: [
          {name: 'config', mountPath: '/c'},
          {name: 'config', mountPath: '/key', subPath: 'key'},
        ],
      }),
      aContainerSpec('three', {volumeMounts: [{name: 'host', mountPath: '/h'}]}),
    ],
    volumes: [
      {name: 'scratch', emptyDir: {}},
      {name: 'memory', emptyDir: {medium: 'Memory', sizeLimit: '1Mi'}},
      {name: 'config', configMap: {name: 'settings'}},
      {name: 'host', hostPath: {path: join(directory, 'host'), type: 'Directory'}},
    ],
  });
  const config = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {name: 'settings', namespace: 'default'},
    data: {key: 'value'},
  };
  return [JSON.stringify(config), pod].join('\n---\n');
}

/** A root directory, host directory and cgroup root with a fake runtime, on which kcri runs. */
class SyncTestbed implements AsyncDisposable {
  readonly fake: FakeRuntime;
  readonly #directory: string;

  constructor(fake: FakeRuntime, directory: string) {
    this.fake = fake;
    this.#directory = directory;
  }

  static async start(): Promise<SyncTestbed> {
    const directory = mkdtempSync(join(tmpdir(), 'kcri-killed-'));
    mkdirSync(join(directory, 'host'));
    writeFileSync(join(directory, 'host/precious'), 'mine');
    return new SyncTestbed(await FakeRuntime.start(), directory);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.fake.stop();
    removeCgroupRoot(this.#cgroupRoot);
    rmSync(this.#directory, {recursive: true, force: true});
  }

  /** The pods of all testbeds have the same UID, but not the same cgroups. */
  get #cgroupRoot(): string {
    return `/${basename(this.#directory)}`;
  }

  sync(): KcriProcess {
    const places = ['--pod-logs-dir', join(this.#directory, 'logs'), '--cgroup-root', this.#cgroupRoot];
    return this.#start(['sync', '-', ...places], manifest(this.#directory));
  }

  delete(): KcriProcess {
    return this.#start(['delete', 'whole']);
  }

  #start([command = '', ...args]: readonly string[], input?: string): KcriProcess {
    const words = ['--root-dir', join(this.#directory, 'root'), command, ...args];
    return startKcriProcess(words, {
      env: {CONTAINER_RUNTIME_ENDPOINT: this.fake.endpoint},
      ...(input !== undefined && {input}),
    });
  }

  /**
   * Returns everything that exists of the pod in the runtime and on the testbed, in a form that does not depend on how
   * it was created.
   */
  state(): unknown {
    const running = this.fake.containers.filter(({state}) => state === 'CONTAINER_RUNNING');
    const mounts = readFileSync('/proc/self/mountinfo', 'utf8')
      .split('\n')
      .map((line) => line.split(' ')[4] ?? '')
      .filter((path) => path.startsWith(this.#directory));
    return {
      sandboxes: this.fake.sandboxes.map(({state}) => state),
      running: running.map(({config}) => config.metadata?.name).toSorted(),
      mounts: mounts.map((path) => path.slice(this.#directory.length)).toSorted(),
      volumes: this.#filesIn(`root/pods/${UID}/volumes`),
      subPaths: this.#filesIn(`root/pods/${UID}/volume-subpaths`),
      ...Object.fromEntries(
        ['kcri/records', 'pods', 'kcri/locks'].map((name) => [basename(name), this.#filesIn(`root/${name}`)]),
      ),
      logs: this.#filesIn('logs'),
      host: this.#filesIn('host'),
    };
  }

  #filesIn(path: string): readonly string[] {
    const directory = join(this.#directory, path);
    return existsSync(directory) ? readdirSync(directory).toSorted() : [];
  }
}

/** One of the calls of a command; `skip` is the number of earlier calls of its RPC. */
interface KillPoint {
  readonly title: string;
  readonly rpc: Rpc;
  readonly skip: number;
  /** True if the call has taken effect and only its response is missing. */
  readonly afterEffect: boolean;
}

/**
 * Returns the points at which to kill kcri: before and after the effect of every mutating call, and at the first of
 * consecutive calls that only read. The other reads find the same state.
 */
function killPointsOf(calls: readonly RecordedCall[]): readonly KillPoint[] {
  return calls.flatMap(({method}, index) => {
    const earlier = calls.slice(0, index);
    const changes = isMutatingCall(method);
    if (!changes && index > 0 && !isMutatingCall(earlier.at(-1)!.method)) return [];
    const skip = earlier.filter((call) => call.method === method).length;
    const title = `call ${index + 1}, ${method} ${skip + 1}`;
    const killPoint = {rpc: method as Rpc, skip};
    const before = {...killPoint, title: `before ${title}`, afterEffect: false};
    return changes ? [before, {...killPoint, title: `after ${title}`, afterEffect: true}] : [before];
  });
}

/** Kills the command while the runtime holds that call. */
async function killAt({fake}: SyncTestbed, command: () => KcriProcess, killPoint: KillPoint): Promise<void> {
  const {rpc, skip, afterEffect} = killPoint;
  const before = fake.callsTo(rpc).length;
  fake.injectDelay(rpc, HELD_MS, {skip, times: 1, afterEffect});
  const kcri = command();
  const isHeld = until(() => fake.callsTo(rpc).length > before + skip);
  const early = await Promise.race([isHeld, kcri.exited]);
  if (early !== undefined) throw new Error(`kcri ended before the call: ${JSON.stringify(early)}`);
  // The effect of the call precedes the delay.
  await new Promise((resolve) => setImmediate(resolve));
  kcri.kill('SIGKILL');
  expect(await kcri.exited).toMatchObject({exitCode: undefined});
  fake.clearFaults();
}

async function succeeds(kcri: KcriProcess): Promise<void> {
  const {exitCode, stderr}: KcriResult = await kcri.exited;
  expect({exitCode, stderr}).toEqual({exitCode: 0, stderr: ''});
}

/** Returns the calls and the results of a sync and a delete that are not disturbed. */
async function undisturbed() {
  await using testbed = await SyncTestbed.start();
  await succeeds(testbed.sync());
  const [synced, state] = [[...testbed.fake.calls], testbed.state()];
  testbed.fake.clearCalls();
  await succeeds(testbed.delete());
  return {synced, state, deleted: [...testbed.fake.calls], deletedState: testbed.state()};
}

const {synced, state, deleted, deletedState} = await undisturbed();

test('an undisturbed sync creates the pod, and a delete removes it', () => {
  expect(state).toMatchObject({
    sandboxes: ['SANDBOX_READY'],
    running: ['one', 'side', 'three', 'two'],
    records: [`${UID}.json`],
    locks: [],
    host: ['precious'],
  });
  expect(deletedState).toEqual({
    ...Object.fromEntries(Object.keys(state as object).map((key) => [key, []])),
    host: ['precious'],
  });
});

describe.concurrent('a killed sync', () => {
  test.each(selectCases(killPointsOf(synced), 3))(
    '$title is continued by the next one',
    async (killPoint) => {
      await using testbed = await SyncTestbed.start();
      await killAt(testbed, () => testbed.sync(), killPoint);

      await succeeds(testbed.sync());

      expect(testbed.state()).toEqual(state);
      await succeeds(testbed.delete());
      expect(testbed.state()).toEqual(deletedState);
    },
  );
});

describe.concurrent('a killed delete', () => {
  test.each(selectCases(killPointsOf(deleted), 3))(
    '$title is completed by the next one',
    async (killPoint) => {
      await using testbed = await SyncTestbed.start();
      await succeeds(testbed.sync());
      await killAt(testbed, () => testbed.delete(), killPoint);

      await succeeds(testbed.delete());

      expect(testbed.state()).toEqual(deletedState);
    },
  );
});
