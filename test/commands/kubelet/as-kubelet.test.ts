import {describe, expect, test} from 'vitest';
import Kubelet from '../../../src/commands/kubelet.js';
import {GLOBAL_FLAGS} from '../../../src/cli/flags/global-flags.js';
import {calledAs} from '../../../src/cli/process/called-as.js';
import {runKcri} from '../../cli/run-kcri.js';

const AS_KUBELET = {env: {KCRI_COMPAT: 'kubelet'}};
const CONFIG = 'This parameter should be set via the config file';
const CADVISOR = 'This is a cadvisor flag';
const EVICTION = 'Use --eviction-hard or --eviction-soft instead.';
const CSI = 'will be removed in 1.25 or later. in favor of using CSI.';
const REASONS = [CONFIG, CADVISOR, EVICTION, CSI];

/** Flags that kubelet 1.36.2 lists in its help, and those of them without a value. */
const FLAGS = `
address allowed-unsafe-sysctls anonymous-auth application-metrics-count-limit authentication-token-webhook
authentication-token-webhook-cache-ttl authorization-mode authorization-webhook-cache-authorized-ttl
authorization-webhook-cache-unauthorized-ttl boot-id-file bootstrap-kubeconfig cert-dir cgroup-driver
cgroup-root cgroups-per-qos client-ca-file cloud-provider cluster-dns cluster-domain config config-dir
container-hints container-log-max-files container-log-max-size container-runtime-endpoint containerd
containerd-namespace contention-profiling cpu-cfs-quota cpu-cfs-quota-period cpu-manager-policy
cpu-manager-policy-options cpu-manager-reconcile-period enable-controller-attach-detach
enable-debugging-handlers enable-load-reader enable-server enforce-node-allocatable event-burst event-qps
event-storage-age-limit event-storage-event-limit eviction-hard eviction-max-pod-grace-period
eviction-minimum-reclaim eviction-pressure-transition-period eviction-soft eviction-soft-grace-period
exit-on-lock-contention experimental-allocatable-ignore-eviction experimental-mounter-path fail-cgroupv1
fail-swap-on feature-gates file-check-frequency global-housekeeping-interval hairpin-mode
healthz-bind-address healthz-port hostname-override housekeeping-interval http-check-frequency
image-credential-provider-bin-dir image-credential-provider-config image-gc-high-threshold
image-gc-low-threshold image-service-endpoint kernel-memcg-notification kube-api-burst kube-api-content-type
kube-api-qps kube-reserved kube-reserved-cgroup kubeconfig kubelet-cgroups local-storage-capacity-isolation
lock-file log-cadvisor-usage log-flush-frequency log-json-info-buffer-size log-json-split-stream
log-text-info-buffer-size log-text-split-stream logging-format machine-id-file make-iptables-util-chains
manifest-url manifest-url-header max-housekeeping-interval max-open-files max-pods maximum-dead-containers
maximum-dead-containers-per-container memory-manager-policy minimum-container-ttl-duration
minimum-image-ttl-duration node-ip node-labels node-status-max-images node-status-update-frequency
oom-score-adj pod-cidr pod-manifest-path pod-max-pids pods-per-core port protect-kernel-defaults provider-id
qos-reserved read-only-port register-node register-with-taints registry-burst registry-qps reserved-cpus
reserved-memory resolv-conf root-dir rotate-certificates rotate-server-certificates runonce runtime-cgroups
runtime-request-timeout seccomp-default serialize-image-pulls storage-driver-buffer-duration
storage-driver-db storage-driver-host storage-driver-password storage-driver-secure storage-driver-table
storage-driver-user streaming-connection-idle-timeout sync-frequency system-cgroups system-reserved
system-reserved-cgroup tls-cert-file tls-cipher-suites tls-min-version tls-private-key-file
topology-manager-policy topology-manager-policy-options topology-manager-scope v version vmodule
volume-plugin-dir volume-stats-agg-period`;
const SWITCHES = `
anonymous-auth authentication-token-webhook cgroups-per-qos contention-profiling cpu-cfs-quota
enable-controller-attach-detach enable-debugging-handlers enable-load-reader enable-server
exit-on-lock-contention experimental-allocatable-ignore-eviction fail-cgroupv1 fail-swap-on
kernel-memcg-notification local-storage-capacity-isolation log-cadvisor-usage log-json-split-stream
log-text-split-stream make-iptables-util-chains protect-kernel-defaults register-node rotate-certificates
rotate-server-certificates runonce seccomp-default serialize-image-pulls storage-driver-secure`;
const words = (text: string): readonly string[] => text.trim().split(/\s+/);

test.each([
  ['a link', {}, '/usr/bin/kubelet', 'kubelet'],
  ['a variable', {KCRI_COMPAT: 'kubelet'}, '/usr/bin/kcri', 'kubelet'],
  ["crictl's variable before the link", {KCRI_COMPAT: 'crictl'}, '/usr/bin/kubelet', 'crictl'],
  ["crictl's link", {}, '/usr/bin/crictl', 'crictl'],
  ['another name', {KCRI_COMPAT: 'docker'}, '/usr/bin/kubelets', 'kcri'],
])('%s decides what kcri is called as', (_, env, program, expected) => {
  expect(calledAs(env, program)).toBe(expected);
});

test.each([
  [['--version'], 'Kubernetes v1.36.2'],
  [['--version=true'], 'Kubernetes v1.36.2'],
  [['--version=false', '--version=v1.36.2-rc.1', '--version'], 'Kubernetes v1.36.2-rc.1'],
])('%j prints the version that kubeadm reads', async (args, line) => {
  const {exitCode, stdout, stderr} = await runKcri(args, AS_KUBELET);
  expect({exitCode, line: stdout.replace(/\n$/, ''), stderr}).toEqual({exitCode: 0, line, stderr: ''});
});

test('--version=raw prints the version as a Go struct', async () => {
  const {stdout} = await runKcri(['--version=raw'], AS_KUBELET);
  expect(stdout).toMatch(/^version\.Info\{Major:"1", Minor:"36", .*GitVersion:"v1\.36\.2", .*\}\n$/);
});

// Proves: kubelet --version
test('kcri kubelet prints the version of Kubernetes', async () => {
  expect(await runKcri(['kubelet', '--version'])).toMatchObject({stdout: 'Kubernetes v1.36.2\n', stderr: ''});
});

test('every flag of a kubelet exists, and takes a value where it does there', () => {
  const known: Readonly<Record<string, {readonly type: string}>> = {...GLOBAL_FLAGS, ...Kubelet.flags};
  expect(words(FLAGS)).toHaveLength(149);
  expect(words(FLAGS).filter((name) => !Object.hasOwn(known, name))).toEqual([]);
  const switches = words(FLAGS).filter((name) => known[name]?.type === 'boolean');
  expect(switches.toSorted()).toEqual(words(SWITCHES).toSorted());
});

describe('under the name kubelet', () => {
  test('deprecated flags are warned about, each time that they are given, as a kubelet does', async () => {
    const flags = ['--max-pods=4', '--max-pods=5', '--log-cadvisor-usage', '--housekeeping-interval=10s'];
    const current = [
      '--provider-id=x',
      '--seccomp-default',
      '--vmodule=x=1',
      '--fail-cgroupv1=false',
      '--v=1',
    ];
    const gc = ['--maximum-dead-containers=1', '--experimental-mounter-path=/x', '--feature-gates=A=true'];
    const tls = [
      '--tls-cipher-suites=',
      '--fail-swap-on=false',
      '--log-flush-frequency=1s',
      '--check-config',
    ];
    const {exitCode, stderr} = await runKcri([...flags, ...current, ...gc, ...tls], AS_KUBELET);
    expect(exitCode).toBe(0);
    const warnings = Array.from(
      stderr.matchAll(/^Flag --(\S+) has been deprecated, (.*)$/gm),
      ([, name, reason]) => [name, REASONS.find((start) => reason?.startsWith(start))],
    );
    expect(warnings).toEqual([
      ['max-pods', CONFIG],
      ['max-pods', CONFIG],
      ['log-cadvisor-usage', CADVISOR],
      ['maximum-dead-containers', EVICTION],
      ['experimental-mounter-path', CSI],
      ['feature-gates', CONFIG],
      ['tls-cipher-suites', CONFIG],
      ['fail-swap-on', CONFIG],
    ]);
  });

  // Texts of kubelet 1.36.2.
  test.each([
    [['--foo'], 'failed to parse kubelet flag: unknown flag: --foo'],
    [['--container-runtime=remote'], 'failed to parse kubelet flag: unknown flag: --container-runtime'],
    [['--help', '--foo'], 'failed to parse kubelet flag: unknown flag: --foo'],
    [['-x'], "failed to parse kubelet flag: unknown shorthand flag: 'x' in -x"],
    [['-c', 'x'], "failed to parse kubelet flag: unknown shorthand flag: 'c' in -c"],
    [['-v'], "failed to parse kubelet flag: flag needs an argument: 'v' in -v"],
    [['--max-pods'], 'failed to parse kubelet flag: flag needs an argument: --max-pods'],
    [['foo', 'bar'], 'unknown command foo'],
    [['help'], 'unknown command help'],
    [['--', 'x'], 'unknown command x'],
    [
      ['--version=v1.2.3'],
      'failed to parse kubelet flag: invalid argument "v1.2.3" for "--version" flag: version "v1.2.3" must match ' +
        'major/minor/patch of default version "v1.36.2"',
    ],
  ])('%j fails with the line of a kubelet', async (args, text) => {
    const {exitCode, stdout, stderr} = await runKcri(args, AS_KUBELET);
    expect({exitCode, stdout}).toEqual({exitCode: 1, stdout: ''});
    const [, error] =
      /^E\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ [\w.-]+:\d+\] "command failed" err=(".*")\n$/.exec(stderr) ?? [];
    expect(JSON.parse(error ?? '')).toBe(text);
  });

  test.each([
    [
      ['--max-pods=abc'],
      'failed to parse kubelet flag: invalid argument \\"abc\\" for \\"--max-pods\\" flag',
    ],
    [['--version=abc'], 'failed to parse kubelet flag: invalid argument \\"abc\\" for \\"--version\\" flag'],
    [['--config=/nonexistent'], 'cannot read configuration'],
    [['--config-dir=/nonexistent'], 'cannot read directory'],
    [['--kubeconfig=/nonexistent', '--fail-swap-on=false'], 'failed to run Kubelet: '],
  ])('%j fails with one line of the log', async (args, text) => {
    const {exitCode, stderr} = await runKcri(args, AS_KUBELET);
    const [line, ...others] = stderr.split('\n').filter((each) => each.startsWith('E'));
    expect(others).toEqual([]);
    expect(line).toMatch(/^E.*\] "command failed" err=".*"$/);
    expect(line).toContain(text);
    expect(stderr).not.toMatch(/^(kcri|hint|usage):/m);
    expect(exitCode).toBe(1);
  });

  test('an error after the configuration was read is a line in its format', async () => {
    const {stderr} = await runKcri(
      ['--kubeconfig=/nonexistent', '--fail-swap-on=false', '--logging-format=json'],
      AS_KUBELET,
    );
    const lines = stderr.split('\n').filter((line) => !/^(Flag --|$)/.test(line));
    const parsed = lines.map((line): unknown => JSON.parse(line));
    expect(parsed.at(-1)).toEqual({
      ts: expect.any(Number) as unknown,
      caller: 'run-kubelet.ts:1',
      msg: 'command failed',
      err: 'failed to run Kubelet: cannot read kubeconfig "/nonexistent": no such file or directory',
      hint: expect.stringContaining('--kubeconfig') as unknown,
    });
  });

  test.each([[['--help']], [['-h']], [['--help=true', '--v=2']]])(
    '%j lists every flag of a kubelet',
    async (args) => {
      const {exitCode, stdout, stderr} = await runKcri(args, AS_KUBELET);
      expect({exitCode, stderr}).toEqual({exitCode: 0, stderr: ''});
      const shown = new Set(
        Array.from(stdout.matchAll(/^ {2}(?:-\w, | {4})--([\w-]+)/gm), ([, name]) => name),
      );
      expect(words(FLAGS).filter((name) => !shown.has(name))).toEqual([]);
      expect(stdout).toMatch(/^ {6}--max-pods N +\S.* \(DEPRECATED: This parameter should be set/m);
      expect(stdout).toMatch(/^ {6}--version\[=true\|raw\|VERSION\] /m);
      expect(stdout).not.toMatch(/--housekeeping-interval .*DEPRECATED/);
      expect(stdout).not.toContain('--container-runtime ');
      expect(stdout).toMatch(/--root-dir DIR .* \[default: \/var\/lib\/kubelet\]$/m);
      expect(stdout).toMatch(/--fail-swap-on .* \[default: true\] \(DEPRECATED/m);
    },
  );
});

test('under its own name, kcri warns of no deprecation and ignores removed flags', async () => {
  const args = ['kubelet', '--container-runtime=remote', '--max-pods=5', '--containerd=x', '--check-config'];
  expect(await runKcri(args)).toMatchObject({exitCode: 0, stderr: ''});
});
