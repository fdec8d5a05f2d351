import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdir, readFile, stat, writeFile} from 'node:fs/promises';
import {createServer} from 'node:net';
import {hostname, totalmem} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {listCgroupsAt, readCgroupValue} from '../harness/leftovers.js';
import {aContainer, aManifest, shellCommand, SLEEP_COMMAND} from '../harness/manifests.js';
import {containerCgroup, podCgroup} from '../harness/pod-cgroups.js';
import {startPodTestbed, type PodTestbed, type RunningPodState} from '../harness/pod-testbed.js';
import {syncReadyPod} from '../harness/sync-ready-pod.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';

describe.each(newestRuntime)('the environment of a container: $name', (which) => {
  let testbed: PodTestbed;
  beforeAll(async () => {
    testbed = await startPodTestbed(which);
  });
  afterAll(() => testbed[Symbol.asyncDispose]());

  const running = (name: string, manifest: string, args?: readonly string[]): Promise<RunningPodState> =>
    syncReadyPod(testbed, name, manifest, args);

  const main = async (pod: RunningPodState, ...command: readonly string[]): Promise<string> => {
    const container = pod.containers.find(({metadata}) => metadata?.name === 'main');
    return await testbed.exec(container!.id, ...command);
  };

  test('emptyDir volumes are shared and writable by all, and in-memory ones are a tmpfs with their size', async () => {
    const volumeMounts = [
      {name: 'disk', mountPath: '/disk'},
      {name: 'memory', mountPath: '/memory'},
    ];
    const pod = await running(
      'volumes',
      aManifest('volumes', {
        containers: [
          aContainer('main', {volumeMounts}),
          aContainer('writer', {
            volumeMounts,
            command: shellCommand(`echo shared > /disk/file; ${SLEEP_COMMAND[2]!}`),
          }),
        ],
        volumes: [
          {name: 'disk', emptyDir: {}},
          {name: 'memory', emptyDir: {medium: 'Memory', sizeLimit: '4Mi'}},
        ],
      }),
    );
    await expect.poll(() => main(pod, 'cat', '/disk/file')).toBe('shared');
    expect(await main(pod, 'stat', '-c', '%a', '/disk', '/memory')).toBe('777\n1777');
    expect(await main(pod, 'grep', ' /memory ', '/proc/mounts')).toMatch(
      /^tmpfs \/memory tmpfs .*size=4096k/,
    );
    await expect(main(pod, 'dd', 'if=/dev/zero', 'of=/memory/big', 'bs=1M', 'count=5')).rejects.toThrow(
      'No space',
    );
  });

  test("hostPath volumes of every type are the host's files", async () => {
    const dir = await temporaryDirectory();
    await mkdir(join(dir, 'there'));
    await writeFile(join(dir, 'there/file'), 'content\n');
    const socket = createServer().listen(join(dir, 'socket'));
    onTestFinished(() => void socket.close());
    const paths = {
      any: ['there', ''],
      directory: ['there', 'Directory'],
      created: ['new/dir', 'DirectoryOrCreate'],
      file: ['there/file', 'File'],
      touched: ['there/new', 'FileOrCreate'],
      socket: ['socket', 'Socket'],
    };
    const volumes = Object.entries(paths).map(([name, [path = '', type]]) => ({
      name,
      hostPath: {path: join(dir, path), type},
    }));
    const device = {name: 'device', hostPath: {path: '/dev/null', type: 'CharDevice'}};
    const pod = await running(
      'hostpath',
      aManifest('hostpath', {
        containers: [
          aContainer('main', {
            volumeMounts: [...volumes, device].map(({name}) => ({name, mountPath: `/mnt/${name}`})),
          }),
        ],
        volumes: [...volumes, device],
      }),
    );
    expect(await main(pod, 'sh', '-c', 'cd /mnt; stat -c "%n %F" *')).toBe(
      [
        'any directory',
        'created directory',
        'device character special file',
        'directory directory',
        'file regular file',
        'socket socket',
        'touched regular empty file',
      ].join('\n'),
    );
    expect(await main(pod, 'cat', '/mnt/file')).toBe('content');
    await main(pod, 'sh', '-c', 'echo from inside > /mnt/created/file');
    expect(await readFile(join(dir, 'new/dir/file'), 'utf8')).toBe('from inside\n');
    expect((await stat(join(dir, 'new/dir'))).mode & 0o777).toBe(0o755);
  });

  test('a read-only mount is not writable', async () => {
    const volumeMounts = [{name: 'v', mountPath: '/v', readOnly: true}];
    const pod = await running(
      'readonly',
      aManifest('readonly', {
        containers: [aContainer('main', {volumeMounts})],
        volumes: [{name: 'v', emptyDir: {}}],
      }),
    );
    await expect(main(pod, 'touch', '/v/x')).rejects.toThrow('Read-only file system');
  });

  test("requests and limits are set in the container's cgroup, below the pod's", async () => {
    const resources = {requests: {cpu: '250m', memory: '64Mi'}, limits: {cpu: '500m', memory: '128Mi'}};
    const pod = await running(
      'resources',
      aManifest('resources', {containers: [aContainer('main', {resources}), aContainer('free')]}),
    );
    const cgroupOf = (name: string): string => {
      const {id} = pod.containers.find(({metadata}) => metadata?.name === name)!;
      return containerCgroup(podCgroup(testbed.cgroupRoot, 'burstable', pod.uid), id);
    };
    const limited = cgroupOf('main');
    expect(readCgroupValue(limited, 'memory.limit_in_bytes', 'memory.max')).toBe(String(128 * 1024 * 1024));
    expect(readCgroupValue(limited, 'cpu.cfs_quota_us', 'cpu.max')).toMatch(/^50000( 100000)?$/);
    // With cgroup v2 the runtime converts shares to weights.
    expect([undefined, '256']).toContain(readCgroupValue(limited, 'cpu.shares'));
    expect([undefined, '2']).toContain(readCgroupValue(cgroupOf('free'), 'cpu.shares'));
    const oomScore = 1000 - Math.floor((1000 * 64 * 1024 * 1024) / totalmem());
    expect(Number(await main(pod, 'cat', '/proc/1/oom_score_adj'))).toBe(Math.min(oomScore, 999));
  });

  test.each([
    ['a pod without requests', {}, 'besteffort', '1000'],
    ['a guaranteed pod', {limits: {cpu: '100m', memory: '32Mi'}}, 'guaranteed', undefined],
  ] as const)('%s is in the cgroup of its QoS class', async (_, resources, name, oomScore) => {
    const pod = await running(name, aManifest(name, {containers: [aContainer('main', {resources})]}));
    const cgroup = containerCgroup(podCgroup(testbed.cgroupRoot, name, pod.uid), pod.containers[0]!.id);
    expect(listCgroupsAt(cgroup)).not.toEqual([]);
    // Without CAP_SYS_RESOURCE, the score cannot be lower than containerd's.
    if (oomScore !== undefined) expect(await main(pod, 'cat', '/proc/1/oom_score_adj')).toBe(oomScore);
  });

  test('deleting a pod removes its cgroup even if the runtime left a process in it', async () => {
    const cgroupRoot = `${testbed.cgroupRoot}/leftover`;
    const pod = await running('leftover', aManifest('leftover'), ['--cgroup-root', cgroupRoot]);
    const [cgroup] = listCgroupsAt(podCgroup(cgroupRoot, 'besteffort', pod.uid));
    const stuck = spawn('sleep', ['3600']);
    onTestFinished(() => void stuck.kill('SIGKILL'));
    await once(stuck, 'spawn');
    await writeFile(`${cgroup}/cgroup.procs`, String(stuck.pid));

    expect(await testbed.delete('leftover')).toMatchObject({exitCode: 0});

    await expect.poll(() => stuck.signalCode).toBe('SIGKILL');
    expect(listCgroupsAt(cgroupRoot)).toEqual([]);
  });

  // Proves: PodSpec.hostAliases, HostAlias.ip, HostAlias.hostnames
  test('names, addresses and the termination message are at the standard paths', async () => {
    const env = ['podIP', 'hostIP'].map((field) => ({
      name: field,
      valueFrom: {fieldRef: {fieldPath: `status.${field}`}},
    }));
    const pod = await running(
      'facts',
      aManifest('facts', {
        hostAliases: [{ip: '192.0.2.7', hostnames: ['other.example']}],
        containers: [aContainer('main', {env, ports: [{containerPort: 80}]})],
      }),
      ['--node-ip', '192.0.2.2', '--cluster-dns', '192.0.2.53', '--cluster-domain', 'cluster.test'],
    );
    const {id} = pod.sandboxes[0]!;
    const {status} = await testbed.runtime.connection.runtime.podSandboxStatus({podSandboxId: id});
    const {ip} = status!.network!;
    expect(await main(pod, 'hostname')).toBe('facts');
    expect(await main(pod, 'cat', '/etc/hosts')).toMatch(
      new RegExp(`${ip}\\s+facts\\n[^]*192.0.2.7\\s+other.example`),
    );
    expect(await main(pod, 'sh', '-c', 'echo $podIP $hostIP')).toBe(`${ip} 192.0.2.2`);
    expect(await main(pod, 'cat', '/etc/resolv.conf')).toMatch(
      /^search default.svc.cluster.test svc.cluster.test cluster.test.*\nnameserver 192.0.2.53\noptions ndots:5$/,
    );
    await main(pod, 'sh', '-c', 'echo last words > /dev/termination-log');
    const path = join(testbed.runtime.rootDir, 'pods', pod.uid, 'containers/main');
    const mount = (await testbed.statusOf(pod.containers[0]!.id)).mounts.find(
      ({containerPath}) => containerPath === '/dev/termination-log',
    );
    expect(mount?.hostPath.startsWith(`${path}/`)).toBe(true);
    expect(await readFile(mount!.hostPath, 'utf8')).toBe('last words\n');
  });

  test("a pod in the host's network has the host's name and hosts file", async () => {
    const pod = await running('hostnet', aManifest('hostnet', {hostNetwork: true}));
    expect(await main(pod, 'hostname')).toBe(hostname());
    expect(await main(pod, 'cat', '/etc/hosts')).toContain((await readFile('/etc/hosts', 'utf8')).trim());
  });
});
