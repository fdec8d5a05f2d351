import {execFileSync} from 'node:child_process';
import {mkdir, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {fnv32, hashContainer} from '../../../src/api/container-hash.js';
import {fromJson, type Connection} from '../../../src/cri/index.js';
import {IMAGE} from './manifests.js';
import {podCgroup} from './pod-cgroups.js';

/** Node on which a kubelet has left a pod. */
export interface LeftPodOptions {
  readonly connection: Connection;
  readonly rootDir: string;
  readonly logsDir: string;
  readonly cgroupRoot: string;
  readonly uid: string;
  /** Name of the pod, with the node's name for a static pod. */
  readonly name: string;
  readonly command: readonly string[];
}

/** What a kubelet has left, on the runtime and in its root directory. */
export interface LeftPod {
  readonly containerId: string;
  readonly sandboxId: string;
  /** Directory of the pod. */
  readonly directory: string;
  /** An emptyDir in memory, which is mounted. */
  readonly memory: string;
  /** Files of a downwardAPI volume: links as the kubelet's atomic writer makes them. */
  readonly downward: string;
}

const NODE_NAMESPACE = 2;
const CONTAINER_NAMESPACE = 1;
const RUNTIME_DEFAULT = 1;
const TIMESTAMPED = '..2026_11_26_13_23_54.2552791199';

/**
 * Leaves a running pod with the container `main` as kubelet 1.36.2 does: with its CRI calls, directories, mounts, links and
 * checkpoints. The shapes are those of test/golden/handover.
 */
export async function leavePod(options: LeftPodOptions): Promise<LeftPod> {
  const directory = join(options.rootDir, 'pods', options.uid);
  const left = {
    directory,
    memory: join(directory, 'volumes/kubernetes.io~empty-dir/memory'),
    downward: join(directory, 'volumes/kubernetes.io~downward-api/info'),
  };
  await makeDirectories(options, left);
  return {...left, ...(await startContainer(options, left))};
}

type Directories = Pick<LeftPod, 'directory' | 'memory' | 'downward'>;

async function makeDirectories(
  {rootDir, uid, name}: LeftPodOptions,
  {directory, memory, downward}: Directories,
): Promise<void> {
  await mkdir(join(directory, 'containers/main'), {recursive: true, mode: 0o750});
  await writeFile(join(directory, 'containers/main/3bfd0641'), '', {mode: 0o666});
  await writeFile(
    join(directory, 'etc-hosts'),
    '# Kubernetes-managed hosts file (host network).\n127.0.0.1 localhost\n',
  );
  for (const [path, wrapper] of [
    [memory, 'memory'],
    [downward, 'wrapped_info'],
  ] as const) {
    await mkdir(path, {recursive: true});
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'mode=1777', 'tmpfs', path]);
    const ready = join(directory, 'plugins/kubernetes.io~empty-dir', wrapper);
    await mkdir(ready, {recursive: true, mode: 0o750});
    await writeFile(join(ready, 'ready'), '');
  }
  await writeFile(join(memory, 'data'), 'kept');
  await mkdir(join(downward, TIMESTAMPED));
  await writeFile(join(downward, TIMESTAMPED, 'name'), name);
  await symlink(TIMESTAMPED, join(downward, '..data'));
  await symlink('..data/name', join(downward, 'name'));
  const data = JSON.stringify({
    entries: {[uid]: {ContainerResources: {main: {}}, PodLevelResources: null}},
  });
  const checkpoint = JSON.stringify({data, checksum: fnv32(`(string)${data}`)});
  for (const file of ['allocated_pods_state', 'actuated_pods_state'])
    await writeFile(join(rootDir, file), checkpoint, {mode: 0o600});
}

async function startContainer(
  {connection, logsDir, cgroupRoot, uid, name, command}: LeftPodOptions,
  {directory, memory, downward}: Directories,
): Promise<Pick<LeftPod, 'containerId' | 'sandboxId'>> {
  const {runtime, images} = connection;
  const logDirectory = join(logsDir, `default_${name}_${uid}`);
  await mkdir(join(logDirectory, 'main'), {recursive: true});
  const labels = {
    'io.kubernetes.pod.name': name,
    'io.kubernetes.pod.namespace': 'default',
    'io.kubernetes.pod.uid': uid,
  };
  const namespaces = {network: NODE_NAMESPACE, pid: CONTAINER_NAMESPACE};
  const sandbox = fromJson('PodSandboxConfig', {
    metadata: {name, namespace: 'default', uid},
    labels,
    annotations: {
      'kubernetes.io/config.source': 'file',
      'kubernetes.io/config.seen': '2026-11-26T13:21:51.264106619Z',
    },
    log_directory: logDirectory,
    linux: {
      cgroup_parent: podCgroup(cgroupRoot, 'besteffort', uid),
      security_context: {namespace_options: namespaces, seccomp: {}},
    },
  });
  const {podSandboxId} = await runtime.runPodSandbox({config: sandbox, runtimeHandler: ''});
  const {image} = await images.imageStatus({image: {image: IMAGE}});
  const config = fromJson('ContainerConfig', {
    metadata: {name: 'main'},
    image: {image: image!.id, user_specified_image: IMAGE},
    command,
    labels: {...labels, 'io.kubernetes.container.name': 'main'},
    annotations: {
      'io.kubernetes.container.hash': hashContainer({name: 'main', image: IMAGE}),
      'io.kubernetes.container.restartCount': '0',
      'io.kubernetes.container.terminationMessagePath': '/dev/termination-log',
      'io.kubernetes.container.terminationMessagePolicy': 'File',
      'io.kubernetes.pod.terminationGracePeriod': '2',
    },
    log_path: 'main/0.log',
    mounts: [
      {container_path: '/memory', host_path: memory},
      {container_path: '/info', host_path: downward},
      {container_path: '/etc/hosts', host_path: join(directory, 'etc-hosts')},
      {container_path: '/dev/termination-log', host_path: join(directory, 'containers/main/3bfd0641')},
    ],
    linux: {
      resources: {cpu_period: 100_000, cpu_shares: 2, oom_score_adj: 1000},
      security_context: {
        namespace_options: namespaces,
        run_as_user: {},
        seccomp: {profile_type: RUNTIME_DEFAULT},
      },
    },
  });
  const {containerId} = await runtime.createContainer({podSandboxId, config, sandboxConfig: sandbox});
  await runtime.startContainer({containerId});
  return {containerId, sandboxId: podSandboxId};
}
