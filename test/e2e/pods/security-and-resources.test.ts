import {readlinkSync} from 'node:fs';
import {totalmem} from 'node:os';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {readCgroupValue} from '../harness/leftovers.js';
import {
  aContainer,
  aManifest,
  shellCommand,
  SLEEP_COMMAND,
  type ManifestFields,
} from '../harness/manifests.js';
import {containerCgroup, podCgroup} from '../harness/pod-cgroups.js';
import {startPodTestbed, type PodTestbed, type RunningPodState} from '../harness/pod-testbed.js';
import {syncReadyPod} from '../harness/sync-ready-pod.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';

const MIB = 1024 * 1024;

describe.each(newestRuntime)('fields of a Pod, checked in its containers: $name', (which) => {
  let testbed: PodTestbed;
  beforeAll(async () => {
    testbed = await startPodTestbed(which);
  });
  afterAll(() => testbed[Symbol.asyncDispose]());

  const running = (name: string, spec: ManifestFields, args?: readonly string[]): Promise<RunningPodState> =>
    syncReadyPod(testbed, name, aManifest(name, spec), args);

  const idOf = (pod: RunningPodState, name: string) =>
    pod.containers.find(({metadata}) => metadata?.name === name)!.id;
  const run = async (pod: RunningPodState, name: string, script: string): Promise<string> =>
    await testbed.exec(idOf(pod, name), ...shellCommand(script));

  /** Returns the fields of /proc/self/status by name. */
  async function processStatus(pod: RunningPodState, name: string): Promise<ReadonlyMap<string, string>> {
    const rows = (await run(pod, name, 'cat /proc/self/status')).split('\n');
    return new Map(rows.map((row) => [row.split(':')[0] ?? '', row.replace(/^[^:]*:\s*/, '').trim()]));
  }

  test('users, groups, capabilities and profiles apply to its processes', async () => {
    const pod = await running('identity', {
      securityContext: {
        runAsUser: 1000,
        runAsGroup: 3000,
        runAsNonRoot: true,
        supplementalGroups: [4000],
        seccompProfile: {type: 'RuntimeDefault'},
      },
      containers: [
        aContainer('main', {
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: {drop: ['ALL']},
          },
        }),
        aContainer('other', {
          securityContext: {
            runAsUser: 0,
            runAsNonRoot: false,
            capabilities: {drop: ['ALL'], add: ['NET_BIND_SERVICE']},
            seccompProfile: {type: 'Unconfined'},
          },
        }),
        aContainer('privileged', {securityContext: {runAsUser: 0, runAsNonRoot: false, privileged: true}}),
      ],
    });
    const status = await processStatus(pod, 'main');
    expect(status.get('Uid')).toBe('1000\t1000\t1000\t1000');
    expect(status.get('Gid')).toBe('3000\t3000\t3000\t3000');
    expect(status.get('Groups')?.split(' ')).toContain('4000');
    expect(status.get('NoNewPrivs')).toBe('1');
    expect(status.get('Seccomp')).toBe('2');
    expect(status.get('CapBnd')).toBe('0000000000000000');
    await expect(run(pod, 'main', 'touch /file')).rejects.toThrow('Read-only file system');

    const other = await processStatus(pod, 'other');
    expect(other.get('Uid')).toBe('0\t0\t0\t0');
    expect(other.get('CapEff')).toBe('0000000000000400');
    expect(other.get('NoNewPrivs')).toBe('0');
    expect(other.get('Seccomp')).toBe('0');
    expect(await run(pod, 'other', 'wc -c < /proc/timer_list')).toBe('0');

    const privileged = await processStatus(pod, 'privileged');
    expect(parseInt(privileged.get('CapEff') ?? '', 16)).toBeGreaterThan(0xffff);
  });

  test('pod-level resources apply to the pod and its containers', async () => {
    const pod = await running(
      'whole',
      {
        resources: {requests: {cpu: '300m', memory: '48Mi'}, limits: {cpu: '500m', memory: '64Mi'}},
        containers: [
          aContainer('main'),
          aContainer('small', {resources: {limits: {cpu: '100m', memory: '32Mi'}}}),
        ],
      },
      ['--pod-max-pids', '200'],
    );
    const own = podCgroup(testbed.cgroupRoot, 'burstable', pod.uid);
    const memory = ['memory.limit_in_bytes', 'memory.max'];
    const quota = ['cpu.cfs_quota_us', 'cpu.max'];
    expect(readCgroupValue(own, ...memory)).toBe(String(64 * MIB));
    expect(readCgroupValue(own, ...quota)).toMatch(/^50000( 100000)?$/);
    expect(readCgroupValue(own, 'cpu.shares', 'cpu.weight')).toMatch(/^(307|12)$/);
    expect(readCgroupValue(own, 'pids.max')).toBe('200');
    expect(readCgroupValue(containerCgroup(own, idOf(pod, 'main')), ...memory)).toBe(String(64 * MIB));
    expect(readCgroupValue(containerCgroup(own, idOf(pod, 'main')), ...quota)).toMatch(/^50000( 100000)?$/);
    expect(readCgroupValue(containerCgroup(own, idOf(pod, 'small')), ...memory)).toBe(String(32 * MIB));
    // Pod-level requests beyond those of the containers are divided among the containers.
    const oomScore = 1000 - Math.floor((1000 * 8 * MIB) / totalmem());
    expect(Number(await run(pod, 'main', 'cat /proc/1/oom_score_adj'))).toBe(Math.min(oomScore, 999));
  });

  test('hostname, DNS and sysctls apply to its network', async () => {
    const pod = await running(
      'named',
      {
        hostname: 'one',
        subdomain: 'all',
        setHostnameAsFQDN: true,
        dnsPolicy: 'None',
        dnsConfig: {
          nameservers: ['192.0.2.53'],
          searches: ['example.test'],
          options: [{name: 'ndots', value: '2'}, {name: 'edns0'}],
        },
        securityContext: {
          sysctls: [
            {name: 'net.ipv4.ip_unprivileged_port_start', value: '80'},
            {name: 'net.core.somaxconn', value: '1234'},
          ],
        },
      },
      ['--cluster-domain', 'cluster.test', '--allowed-unsafe-sysctls', 'net.core.*'],
    );
    expect(await run(pod, 'main', 'hostname')).toBe('one.all.default.svc.cluster.test');
    expect(await run(pod, 'main', 'cat /etc/hosts')).toMatch(/\tone\.all\.default\.svc\.cluster\.test\tone$/);
    expect(await run(pod, 'main', 'cat /etc/resolv.conf')).toBe(
      'search example.test\nnameserver 192.0.2.53\noptions ndots:2 edns0',
    );
    expect(await run(pod, 'main', 'cat /proc/sys/net/ipv4/ip_unprivileged_port_start')).toBe('80');
    expect(await run(pod, 'main', 'cat /proc/sys/net/core/somaxconn')).toBe('1234');
  });

  test('containers share processes if requested, with their command, directory and environment', async () => {
    const pod = await running('shared', {
      shareProcessNamespace: true,
      hostIPC: true,
      hostnameOverride: 'over.ridden',
      containers: [
        aContainer('main', {
          workingDir: '/tmp/work',
          command: ['sh', '-c', '$(LATER)'],
          args: [],
          env: [
            {name: 'LATER', value: SLEEP_COMMAND[2]},
            {name: 'NESTED', value: '$(LATER) and $$(LATER)'},
          ],
        }),
        aContainer('other', {tty: true, stdin: true}),
      ],
    });
    expect(await run(pod, 'main', 'ps | grep -c "[s]leep 3600"')).toMatch(/^[24]$/);
    expect(await run(pod, 'main', 'cat /proc/1/comm')).toBe('pause');
    expect(await run(pod, 'main', 'echo "$NESTED"')).toBe(`${SLEEP_COMMAND[2]!} and $(LATER)`);
    expect(await run(pod, 'main', 'pwd')).toBe('/tmp/work');
    expect(await run(pod, 'main', 'hostname')).toBe('over.ridden');
    expect(await run(pod, 'main', 'readlink /proc/self/ns/ipc')).toBe(readlinkSync('/proc/self/ns/ipc'));
  });

  test("users are mapped if the runtime supports it, otherwise rejected with the kubelet's message", async () => {
    const {runtimeHandlers} = await testbed.runtime.connection.runtime.status({});
    const handler = runtimeHandlers.find(({name}) => name === '');
    const spec = {
      hostUsers: false,
      containers: [aContainer('main', {volumeMounts: [{name: 'v', mountPath: '/v'}]})],
      volumes: [{name: 'v', emptyDir: {}}],
    };
    if (handler?.features?.userNamespaces === true) {
      const pod = await running('ownusers', spec);
      const [inside, outside, length] = (await run(pod, 'main', 'cat /proc/self/uid_map')).split(/\s+/);
      expect([inside, length]).toEqual(['0', '65536']);
      expect(Number(outside) % 65_536).toBe(0);
      expect(Number(outside)).toBeGreaterThan(0);
      await run(pod, 'main', 'touch /v/mine');
      expect(await run(pod, 'main', 'stat -c %u /v/mine /etc/hosts')).toBe('0\n0');
    } else {
      const {exitCode, stderr} = await testbed.sync(aManifest('ownusers', spec));
      expect(exitCode).toBe(1);
      expect(stderr).toContain("can't set `spec.hostUsers: false`, runtime does not support user namespaces");
      expect(await testbed.find('ownusers')).toBeUndefined();
    }
  });

  test.each<[string, ManifestFields, string]>([
    [
      'sysctls',
      {securityContext: {sysctls: [{name: 'kernel.msgmax', value: '1'}]}},
      'SysctlForbidden: Pod was rejected: forbidden sysctl: "kernel.msgmax" not allowlisted',
    ],
    [
      'labels',
      {nodeSelector: {'kubernetes.io/os': 'plan9'}},
      "NodeAffinity: Pod was rejected: Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
    ],
    [
      'room',
      {containers: [aContainer('main', {resources: {requests: {cpu: '1000'}}})]},
      "OutOfcpu: Pod was rejected: Node didn't have enough resource: cpu, requested: 1000000, used: 0",
    ],
    [
      'root',
      {securityContext: {runAsNonRoot: true}},
      'CreateContainerConfigError: container has runAsNonRoot and image will run as root',
    ],
  ])('a pod that is not admitted is rejected, and leaves nothing: %s', async (name, spec, message) => {
    const {exitCode, stderr} = await testbed.sync(aManifest(`no-${name}`, spec));

    expect(exitCode).toBe(1);
    expect(stderr).toContain(message);
    expect(await testbed.find(`no-${name}`)).toBeUndefined();
  });
});
