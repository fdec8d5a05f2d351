import {randomBytes} from 'node:crypto';
import {readdirSync, readFileSync, existsSync} from 'node:fs';
import {join} from 'node:path';
import {
  type Container,
  type ContainerId,
  type ContainerStatus,
  type PodSandbox,
  type PodSandboxId,
} from '../../../src/cri/index.js';
import {timeBudget} from '../../base/time-budget.js';
import {
  interruptWhen,
  WAIT_FOR_FAILED,
  type KcriOptions,
  type KcriProcess,
  type KcriResult,
} from './kcri-process.js';
import {listCgroupsAt} from './leftovers.js';
import {listPodCgroups, removeCgroupRoot} from './pod-cgroups.js';
import {startPrivateRuntime, type TestRuntime} from './test-runtime.js';
import type {RuntimeUnderTest} from './runtimes-under-test.js';

/** Time limit of a command in a container: with little CPU time, it is slow to start. */
const EXEC_SECONDS = BigInt(timeBudget(60));

/** Sandboxes and containers of one pod in the runtime, newest first. */
export interface RunningPodState {
  readonly uid: string;
  readonly sandboxes: readonly PodSandbox[];
  readonly containers: readonly Container[];
}

/** A private runtime, with the log directory and the parent cgroup of its pods. */
export interface PodTestbed extends AsyncDisposable {
  readonly runtime: TestRuntime;
  readonly logsDir: string;
  readonly cgroupRoot: string;
  /** Runs `kcri sync -` with a manifest. */
  sync(manifest: string, args?: readonly string[], options?: KcriOptions): Promise<KcriResult>;
  startSync(manifest: string, args?: readonly string[], options?: KcriOptions): KcriProcess;
  /** Runs `kcri sync -`, which also waits for failed pods, until the condition holds, and leaves its pods as they are. */
  leaveWhen(condition: () => Promise<boolean>, manifest: string): Promise<void>;
  delete(...pods: readonly string[]): Promise<KcriResult>;
  /** Returns the newest pod of that name in the runtime, whoever created it. */
  find(name: string): Promise<RunningPodState | undefined>;
  /** Returns the pod; rejects if it does not exist. */
  pod(name: string): Promise<RunningPodState>;
  statusOf(id: ContainerId): Promise<ContainerStatus>;
  /** Returns the PID of the container's main process on the node. */
  pidOf(id: ContainerId): Promise<number>;
  /** Returns the PID of a sandbox's pause process on the node. */
  sandboxPidOf(id: PodSandboxId): Promise<number>;
  netnsOf(id: PodSandboxId): Promise<string>;
  /** Returns the output of a command in the container. */
  exec(id: ContainerId, ...command: readonly string[]): Promise<string>;
  log(pod: {readonly uid: string; readonly name: string}, container: string, attempt: number): string;
  /** Returns everything that is left of a pod, in the runtime and on the machine, one line each. */
  listLeftovers(uid: string): Promise<readonly string[]>;
}

/** Starts a private runtime for pods, with its root directory below `parent` if given, and with variables of its process. */
export async function startPodTestbed(
  which: RuntimeUnderTest,
  parent?: string,
  env?: Readonly<Record<string, string>>,
): Promise<PodTestbed> {
  const runtime = await startPrivateRuntime(which, parent, env);
  const logsDir = join(runtime.rootDir, 'logs');
  const cgroupRoot = `/kcri-e2e-${randomBytes(4).toString('hex')}`;
  const syncArgs = ['sync', '-', '--pod-logs-dir', logsDir, '--cgroup-root', cgroupRoot];
  const {connection} = runtime;
  const startSync: PodTestbed['startSync'] = (manifest, args = [], options = {}) =>
    runtime.start([...syncArgs, ...args], {...options, input: manifest});
  const find: PodTestbed['find'] = async (name) => {
    const sandboxes = newestFirst((await connection.runtime.listPodSandbox()).items);
    const uid = sandboxes.find(({metadata}) => metadata?.name === name)?.metadata?.uid;
    if (uid === undefined) return undefined;
    const own = sandboxes.filter(({metadata}) => metadata?.uid === uid);
    const {containers} = await connection.runtime.listContainers();
    const ids = new Set(own.map(({id}) => id));
    return {
      uid,
      sandboxes: own,
      containers: newestFirst(containers.filter(({podSandboxId}) => ids.has(podSandboxId))),
    };
  };
  const verbose = async (info: Readonly<Record<string, string>>): Promise<VerboseInfo> =>
    JSON.parse(info['info'] ?? '{}') as VerboseInfo;
  const stop = async (): Promise<void> => {
    await runtime.stop();
    removeCgroupRoot(cgroupRoot);
  };
  return {
    runtime,
    logsDir,
    cgroupRoot,
    startSync,
    find,
    sync: (manifest, args, options) => startSync(manifest, args, options).exited,
    leaveWhen: (condition, manifest) => interruptWhen(condition, startSync(manifest, [WAIT_FOR_FAILED])),
    delete: (...pods) => runtime.kcri(['delete', ...pods]),
    pod: async (name) => {
      const found = await find(name);
      if (found === undefined) throw new Error(`no pod ${name} is in the runtime`);
      return found;
    },
    statusOf: async (containerId) => {
      const {status} = await connection.runtime.containerStatus({containerId});
      if (status === undefined) throw new Error(`no status of ${containerId}`);
      return status;
    },
    pidOf: async (containerId) =>
      (await verbose((await connection.runtime.containerStatus({containerId, verbose: true})).info)).pid,
    sandboxPidOf: async (podSandboxId) =>
      (await verbose((await connection.runtime.podSandboxStatus({podSandboxId, verbose: true})).info)).pid,
    netnsOf: async (podSandboxId) => {
      const {info} = await connection.runtime.podSandboxStatus({podSandboxId, verbose: true});
      const namespaces = (await verbose(info)).runtimeSpec.linux.namespaces;
      return namespaces.find(({type}) => type === 'network')?.path ?? '';
    },
    exec: async (containerId, ...cmd) => {
      const {stdout, stderr, exitCode} = await connection.runtime.execSync({
        containerId,
        cmd,
        timeout: EXEC_SECONDS,
      });
      if (exitCode !== 0) throw new Error(`${cmd.join(' ')}: ${exitCode}: ${String(Buffer.from(stderr))}`);
      return Buffer.from(stdout).toString().trim();
    },
    log: ({uid, name}, container, attempt) =>
      readFileSync(join(logsDir, `default_${name}_${uid}`, container, `${attempt}.log`), 'utf8'),
    listLeftovers: async (uid) => [
      ...(await connection.runtime.listPodSandbox()).items
        .filter(({metadata}) => metadata?.uid === uid)
        .map(({id}) => `sandbox ${id}`),
      ...(await connection.runtime.listContainers()).containers
        .filter(({labels}) => labels['io.kubernetes.pod.uid'] === uid)
        .map(({id}) => `container ${id}`),
      ...readFileSync('/proc/self/mountinfo', 'utf8')
        .split('\n')
        // A pod of the same content on another runtime has the same UID.
        .filter((line) => line.includes(uid) && line.includes(runtime.rootDir)),
      ...listPodCgroups(cgroupRoot, uid).flatMap(listCgroupsAt),
      ...STATE_DIRECTORIES.flatMap((dir) =>
        filesIn(join(runtime.rootDir, dir)).filter((path) => path.includes(uid) || dir === LOCKS),
      ),
    ],
    [Symbol.asyncDispose]: stop,
  };
}

const LOCKS = 'kcri/locks';
/** Directories below the root directory with files of pods. */
const STATE_DIRECTORIES = [
  ...['kcri/records', 'kcri/events', 'kcri/statuses', 'kcri/resources', 'kcri/mounts'],
  ...['pods', 'logs', LOCKS],
];

/** Parts of containerd's verbose status. */
interface VerboseInfo {
  readonly pid: number;
  readonly runtimeSpec: {
    readonly linux: {readonly namespaces: readonly {readonly type: string; readonly path?: string}[]};
  };
}

function newestFirst<T extends {readonly createdAt: bigint}>(items: readonly T[]): readonly T[] {
  return items.toSorted((a, b) => Number(b.createdAt - a.createdAt));
}

function filesIn(dir: string): readonly string[] {
  return existsSync(dir) ? readdirSync(dir).map((name) => join(dir, name)) : [];
}
