import {existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {basename, join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {until} from '../../base/until.js';
import {aContainerSpec, aManifest, isMutatingCall} from '../../commands/command-testbed.js';
import {FakeRuntime, type RecordedCall} from '../../fakes/fake-runtime.js';
import type {Rpc} from '../../fakes/runtime/cri-messages.js';
import {startKcriProcess, type KcriResult, type KcriProcess} from '../harness/kcri-process.js';
import {removeCgroupRoot} from '../harness/leftovers.js';

/*
 * kcri as a process of its own that is killed at each of its CRI calls in turn, on a fake runtime that holds the call:
 * directories, mounts and links are real. The same on real runtimes, at a few moments, is in sync-interrupted.test.ts.
 */

const UID = '5c0a51de-7a0b-4d0e-9f53-0d2f6c1b9e77';
/** Longer than any test takes: a call that is held ends with the kcri that made it. */
const HELD_MS = 600_000;

/** A ConfigMap and a pod of three containers with an init container, a sidecar and five volumes. */
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

/** A machine with a fake runtime, and kcri told of both. */
class Machine implements AsyncDisposable {
  readonly fake: FakeRuntime;
  readonly #directory: string;

  constructor(fake: FakeRuntime, directory: string) {
    this.fake = fake;
    this.#directory = directory;
  }

  static async start(): Promise<Machine> {
    const directory = mkdtempSync(join(tmpdir(), 'kcri-killed-'));
    mkdirSync(join(directory, 'host'));
    writeFileSync(join(directory, 'host/precious'), 'mine');
    return new Machine(await FakeRuntime.start(), directory);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.fake.stop();
    removeCgroupRoot(this.#cgroupRoot);
    rmSync(this.#directory, {recursive: true, force: true});
  }

  /** The pods of all machines have the same UID, but not the same cgroups. */
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

  /** What there is of the pod in the runtime and on the machine, the same whatever led to it. */
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
        ['records', 'pods', 'locks'].map((name) => [name, this.#filesIn(`root/${name}`)]),
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

/** One call among those that a command makes: the `skip`ped ones of its RPC come before it. */
interface Moment {
  readonly title: string;
  readonly rpc: Rpc;
  readonly skip: number;
  /** The call has taken effect, and only its answer is missing. */
  readonly afterEffect: boolean;
}

/**
 * Every call that changes something, before and after its effect, and the first one of those in between that only
 * read: the others find the same in the runtime, and on the machine no more than the next change does.
 */
function momentsOf(calls: readonly RecordedCall[]): readonly Moment[] {
  return calls.flatMap(({method}, index) => {
    const earlier = calls.slice(0, index);
    const changes = isMutatingCall(method);
    if (!changes && index > 0 && !isMutatingCall(earlier.at(-1)!.method)) return [];
    const skip = earlier.filter((call) => call.method === method).length;
    const title = `call ${index + 1}, ${method} ${skip + 1}`;
    const moment = {rpc: method as Rpc, skip};
    const before = {...moment, title: `before ${title}`, afterEffect: false};
    return changes ? [before, {...moment, title: `after ${title}`, afterEffect: true}] : [before];
  });
}

/** Kills the command while the runtime holds its call of that moment. */
async function killAt({fake}: Machine, command: () => KcriProcess, moment: Moment): Promise<void> {
  const {rpc, skip, afterEffect} = moment;
  const before = fake.callsTo(rpc).length;
  fake.injectDelay(rpc, HELD_MS, {skip, times: 1, afterEffect});
  const kcri = command();
  const isHeld = until(() => fake.callsTo(rpc).length > before + skip);
  const early = await Promise.race([isHeld, kcri.exited]);
  if (early !== undefined) throw new Error(`kcri ended before the call: ${JSON.stringify(early)}`);
  // What takes effect does so before the call is held.
  await new Promise((resolve) => setImmediate(resolve));
  kcri.kill('SIGKILL');
  expect(await kcri.exited).toMatchObject({exitCode: undefined});
  fake.clearFaults();
}

async function succeeds(kcri: KcriProcess): Promise<void> {
  const {exitCode, stderr}: KcriResult = await kcri.exited;
  expect({exitCode, stderr}).toEqual({exitCode: 0, stderr: ''});
}

/** What a sync and a delete that nobody disturbs call and come to. */
async function undisturbed() {
  await using machine = await Machine.start();
  await succeeds(machine.sync());
  const [synced, state] = [[...machine.fake.calls], machine.state()];
  machine.fake.clearCalls();
  await succeeds(machine.delete());
  return {synced, state, deleted: [...machine.fake.calls], gone: machine.state()};
}

const {synced, state, deleted, gone} = await undisturbed();

test('an undisturbed sync creates the pod, and a delete removes it', () => {
  expect(state).toMatchObject({
    sandboxes: ['SANDBOX_READY'],
    running: ['one', 'side', 'three', 'two'],
    records: [`${UID}.json`],
    locks: [],
    host: ['precious'],
  });
  expect(gone).toEqual({
    ...Object.fromEntries(Object.keys(state as object).map((key) => [key, []])),
    host: ['precious'],
  });
});

describe.concurrent('a killed sync', () => {
  test.each(momentsOf(synced))('$title is continued by the next one', async (moment) => {
    await using machine = await Machine.start();
    await killAt(machine, () => machine.sync(), moment);

    await succeeds(machine.sync());

    expect(machine.state()).toEqual(state);
    await succeeds(machine.delete());
    expect(machine.state()).toEqual(gone);
  });
});

describe.concurrent('a killed delete', () => {
  test.each(momentsOf(deleted))('$title is completed by the next one', async (moment) => {
    await using machine = await Machine.start();
    await succeeds(machine.sync());
    await killAt(machine, () => machine.delete(), moment);

    await succeeds(machine.delete());

    expect(machine.state()).toEqual(gone);
  });
});
