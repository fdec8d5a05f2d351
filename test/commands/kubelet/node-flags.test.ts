import {describe, expect, test} from 'vitest';
import {nodeOptions} from '../../../src/cli/flags/pod-flags.js';
import {aContainerSpec, aManifest, aScene, type PodScene} from '../pod-scene.js';

/** The node as flags describe it: what pods see of it must come from there. */
const NODE = [
  ...['--hostname-override', 'flagged', '--static', '--lenient', '--seccomp-default'],
  ...['--node-ip', '10.9.8.7', '--node-cpu', '7', '--node-memory', '3Gi'],
  ...['--cluster-dns', '10.0.0.53', '--cluster-domain', 'cluster.example'],
];

const fromPod = (name: string, fieldPath: string) => ({name, valueFrom: {fieldRef: {fieldPath}}});
const fromLimits = (name: string, resource: string) => ({name, valueFrom: {resourceFieldRef: {resource}}});

const POD = aManifest({
  nonsense: true,
  dnsPolicy: 'ClusterFirst',
  containers: [
    aContainerSpec('main', {
      env: [
        fromPod('HOST_IP', 'status.hostIP'),
        fromLimits('CPUS', 'limits.cpu'),
        fromLimits('MEMORY', 'limits.memory'),
      ],
    }),
  ],
});

interface Call {
  readonly method: string;
  readonly request: unknown;
}

/** The calls that a command makes, or plans to make. */
async function calls(scene: PodScene, command: string, flags: readonly string[]): Promise<readonly Call[]> {
  const file = await scene.write('pod.json', POD);
  const json = command === 'plan' ? ['-o', 'json'] : [];
  const result = await scene.run([command, ...flags, ...json, file]);
  expect(result).toMatchObject({exitCode: 0});
  expect(result.stderr).toContain('nonsense');
  if (command !== 'plan') return scene.runtime.calls;
  const [plan] = JSON.parse(result.stdout) as [{calls: readonly Call[]}];
  return plan.calls;
}

/** One request as text. */
const said = (all: readonly Call[], method: string): string =>
  JSON.stringify(all.find((call) => call.method === method)?.request);

/** A variable's value, which plans show as text and calls hold as bytes. */
const valueOf = (request: string, variable: string): string => {
  const value = new RegExp(`"key":"${variable}","value":"([^"]*)"`).exec(request)?.[1] ?? '';
  return /[.]|^\d+$/.test(value) ? value : Buffer.from(value, 'base64').toString();
};

test.each(['plan', 'runp', 'sync'])('%s takes the node from flags', async (command) => {
  const scene = await aScene();
  const resolv = await scene.write('resolv.conf', 'nameserver 192.0.2.1\nsearch office.example\n');
  const places = ['--resolv-conf', resolv, '--cgroup-root', '/flagged'];
  const all = await calls(scene, command, [...NODE, ...places, '--cgroup-driver', 'cgroupfs']);
  const sandbox = said(all, 'RunPodSandbox');
  for (const text of [
    '"web-flagged"',
    '"10.0.0.53"',
    'svc.cluster.example',
    'office.example',
    '"/flagged/kubepods',
  ])
    expect(sandbox).toContain(text);
  const container = said(all, 'CreateContainer');
  expect(valueOf(container, 'HOST_IP')).toBe('10.9.8.7');
  expect(valueOf(container, 'CPUS')).toBe('7');
  // What a kubelet keeps free of evictions is not the pods'.
  expect(valueOf(container, 'MEMORY')).toBe(String(3 * 2 ** 30 - 100 * 2 ** 20));
  // RuntimeDefault, the enumeration's 0.
  expect(container).toContain('"seccomp":{}');
});

test.each(['plan', 'runp', 'sync'])('%s names cgroups for the driver that a flag says', async (command) => {
  const scene = await aScene();
  const all = await calls(scene, command, ['--lenient', '--cgroup-driver', 'systemd']);
  expect(said(all, 'RunPodSandbox')).toContain('.slice"');
});

describe.each(['plan', 'runp', 'sync'])('%s', (command) => {
  const picky = aManifest({
    nodeSelector: {zone: 'a'},
    securityContext: {sysctls: [{name: 'kernel.msgmax', value: '1'}]},
  });

  test('takes a pod that the node’s labels and sysctls are for', async () => {
    const scene = await aScene();
    const flags = ['--node-labels', 'zone=a,disk=ssd', '--allowed-unsafe-sysctls', 'kernel.msg*'];

    const result = await scene.run([
      command,
      ...flags,
      '--pod-max-pids',
      '100',
      await scene.write('pod.json', picky),
    ]);

    expect(result).toMatchObject({exitCode: 0, stderr: ''});
  });

  test.each([
    [['--node-labels', 'zone=a'], 'SysctlForbidden: Pod was rejected: forbidden sysctl: "kernel.msgmax" not'],
    [['--allowed-unsafe-sysctls', 'kernel.msgmax'], 'NodeAffinity: Pod was rejected: Predicate NodeAffinity'],
    [['--allowed-unsafe-sysctls', 'vm.*'], 'the sysctls "vm.*" are not known to be namespaced'],
    [['--node-labels', 'zone'], 'incorrectly specified label: zone'],
  ])('refuses one with %j', async (flags, message) => {
    const scene = await aScene();

    const result = await scene.run([command, ...flags, await scene.write('pod.json', picky)]);

    expect(result.exitCode).not.toBe(0);
    expect(result.stderr).toContain(message);
    expect(scene.mutatingCalls).toEqual([]);
  });
});

test('a limit of processes is one from 1 on', () => {
  expect(nodeOptions({'pod-max-pids': 100}, '/').podPidsLimit).toBe(100n);
  expect(nodeOptions({'pod-max-pids': -1}, '/').podPidsLimit).toBeUndefined();
});
