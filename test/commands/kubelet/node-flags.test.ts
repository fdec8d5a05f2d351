import {describe, expect, test} from 'vitest';
import {nodeOptions} from '../../../src/features/manifests/pod-flags.js';
import {aContainerSpec, aManifest, createTestbed, type CommandTestbed} from '../command-testbed.js';

/** Flags that describe the node. All node facts in pods must be from these flags. */
const NODE = [
  ...['--hostname-override', 'flagged', '--static', '--lenient', '--seccomp-default'],
  ...['--node-ip', '10.9.8.7', '--node-cpu', '7', '--node-memory', '3Gi'],
  ...['--cluster-dns', '10.0.0.53', '--cluster-domain', 'cluster.example'],
];

const podFieldRef = (name: string, fieldPath: string) => ({name, valueFrom: {fieldRef: {fieldPath}}});
const limitRef = (name: string, resource: string) => ({name, valueFrom: {resourceFieldRef: {resource}}});

const POD = aManifest({
  nonsense: true,
  dnsPolicy: 'ClusterFirst',
  containers: [
    aContainerSpec('main', {
      env: [
        podFieldRef('HOST_IP', 'status.hostIP'),
        limitRef('CPUS', 'limits.cpu'),
        limitRef('MEMORY', 'limits.memory'),
      ],
    }),
  ],
});

interface Call {
  readonly method: string;
  readonly request: unknown;
}

/** Returns the calls that a command makes, or plans. */
async function callsOf(
  testbed: CommandTestbed,
  command: string,
  flags: readonly string[],
): Promise<readonly Call[]> {
  const file = await testbed.write('pod.json', POD);
  const json = command === 'plan' ? ['-o', 'json'] : [];
  const result = await testbed.run([command, ...flags, ...json, file]);
  expect(result).toMatchObject({exitCode: 0});
  expect(result.stderr).toContain('nonsense');
  if (command !== 'plan') return testbed.runtime.calls;
  const [plan] = JSON.parse(result.stdout) as [{calls: readonly Call[]}];
  return plan.calls;
}

/** Returns one request as text. */
const requestText = (all: readonly Call[], method: string): string =>
  JSON.stringify(all.find((call) => call.method === method)?.request);

/** Returns the value of a variable, which is text in plans and bytes in calls. */
const valueOf = (request: string, variable: string): string => {
  const value = new RegExp(`"key":"${variable}","value":"([^"]*)"`).exec(request)?.[1] ?? '';
  return /[.]|^\d+$/.test(value) ? value : Buffer.from(value, 'base64').toString();
};

// Proves: EnvVarSource.resourceFieldRef, plan --hostname-override, runp --hostname-override, sync --hostname-override,
//   plan --node-ip, runp --node-ip, sync --node-ip, plan --node-cpu, runp --node-cpu, sync --node-cpu,
//   plan --node-memory, runp --node-memory, sync --node-memory, plan --cluster-dns, runp --cluster-dns, sync --cluster-dns,
//   plan --cluster-domain, runp --cluster-domain, sync --cluster-domain, plan --lenient, runp --lenient, sync --lenient,
//   plan --resolv-conf, runp --resolv-conf, sync --resolv-conf, plan --cgroup-root, runp --cgroup-root, sync --cgroup-root
test.each(['plan', 'runp', 'sync'])('%s uses the node facts of the flags', async (command) => {
  const testbed = await createTestbed();
  const resolv = await testbed.write('resolv.conf', 'nameserver 192.0.2.1\nsearch office.example\n');
  const places = ['--resolv-conf', resolv, '--cgroup-root', '/flagged'];
  const all = await callsOf(testbed, command, [...NODE, ...places, '--cgroup-driver', 'cgroupfs']);
  const sandbox = requestText(all, 'RunPodSandbox');
  for (const text of [
    '"web-flagged"',
    '"10.0.0.53"',
    'svc.cluster.example',
    'office.example',
    '"/flagged/kubepods',
  ])
    expect(sandbox).toContain(text);
  const container = requestText(all, 'CreateContainer');
  expect(valueOf(container, 'HOST_IP')).toBe('10.9.8.7');
  expect(valueOf(container, 'CPUS')).toBe('7');
  // A kubelet reserves eviction thresholds, which pods cannot use.
  expect(valueOf(container, 'MEMORY')).toBe(String(3 * 2 ** 30 - 100 * 2 ** 20));
  // RuntimeDefault is 0 in the enumeration.
  expect(container).toContain('"seccomp":{}');
});

// Proves: plan --cgroup-driver, runp --cgroup-driver, sync --cgroup-driver
test.each(['plan', 'runp', 'sync'])('%s names cgroups for the driver of the flag', async (command) => {
  const testbed = await createTestbed();
  const all = await callsOf(testbed, command, ['--lenient', '--cgroup-driver', 'systemd']);
  expect(requestText(all, 'RunPodSandbox')).toContain('.slice"');
});

describe.each(['plan', 'runp', 'sync'])('%s', (command) => {
  const selective = aManifest({
    nodeSelector: {zone: 'a'},
    securityContext: {sysctls: [{name: 'kernel.msgmax', value: '1'}]},
  });

  // Proves: plan --node-labels, runp --node-labels, sync --node-labels, plan --allowed-unsafe-sysctls,
  //   runp --allowed-unsafe-sysctls, sync --allowed-unsafe-sysctls
  test("admits a pod that matches the node's labels and sysctls", async () => {
    const testbed = await createTestbed();
    const flags = ['--node-labels', 'zone=a,disk=ssd', '--allowed-unsafe-sysctls', 'kernel.msg*'];

    const result = await testbed.run([
      command,
      ...flags,
      '--pod-max-pids',
      '100',
      await testbed.write('pod.json', selective),
    ]);

    expect(result).toMatchObject({exitCode: 0, stderr: ''});
  });

  test.each([
    [['--node-labels', 'zone=a'], 'SysctlForbidden: Pod was rejected: forbidden sysctl: "kernel.msgmax" not'],
    [['--allowed-unsafe-sysctls', 'kernel.msgmax'], 'NodeAffinity: Pod was rejected: Predicate NodeAffinity'],
    [['--allowed-unsafe-sysctls', 'vm.*'], 'the sysctls "vm.*" are not known to be namespaced'],
    [['--node-labels', 'zone=a=b'], "invalid node labels: 'a=b' - a valid label must be"],
  ])('rejects a pod with %j', async (flags, message) => {
    const testbed = await createTestbed();

    const result = await testbed.run([command, ...flags, await testbed.write('pod.json', selective)]);

    expect(result.exitCode).not.toBe(0);
    expect(result.stderr).toContain(message);
    expect(testbed.mutatingCalls).toEqual([]);
  });
});

test('the PID limit must be at least 1', () => {
  expect(nodeOptions({'pod-max-pids': 100}, '/').podPidsLimit).toBe(100n);
  expect(nodeOptions({'pod-max-pids': -1}, '/').podPidsLimit).toBeUndefined();
});
