import {mkdir, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {beforeEach, describe, expect, test} from 'vitest';
import {until} from '../../base/until.js';
import {sendHangup, programPid} from '../../cli/program.js';
import {runKcri} from '../../cli/run-kcri.js';
import {anImage, FakeRuntime} from '../../fakes/fake-runtime.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {WEB_MANIFEST} from './web-manifest.js';

let directory: string;
beforeEach(async () => {
  directory = await temporaryDirectory();
});

/** Every flag in the help, with a valid value. */
const FLAGS: readonly string[] = [
  '--manifest-url=http://127.0.0.1/m',
  '--manifest-url-header=Name:value',
  '--sync-frequency=30s',
  '--file-check-frequency=5s',
  '--http-check-frequency=5s',
  '--container-runtime-endpoint=unix:///r.sock',
  '--image-service-endpoint=unix:///i.sock',
  '--runtime-request-timeout=10s',
  '--feature-gates=EventedPLEG=false',
  '--address=127.0.0.1',
  '--port=10350',
  '--read-only-port=10355',
  '--healthz-port=0',
  '--healthz-bind-address=127.0.0.1',
  '--enable-server=false',
  '--tls-cert-file=/c --tls-private-key-file=/k',
  '--client-ca-file=/ca',
  '--anonymous-auth=false',
  '--logging-format=json',
  '--v=4',
  '-v 4',
  '--cluster-dns=192.0.2.1,192.0.2.2',
  '--cluster-domain=cluster.local',
  '--resolv-conf=/r',
  '--pod-logs-dir=/var/log/p',
  '--max-pods=5',
  '--pod-max-pids=100',
  '--cgroup-root=/x',
  '--cgroup-driver=systemd',
  '--seccomp-default',
  '--allowed-unsafe-sysctls=net.*',
  '--fail-swap-on=false',
  '--cert-dir=/pki',
  '--authorization-policy-file=/policy.yaml',
  '--maximum-dead-containers=10',
  '--maximum-dead-containers-per-container=2',
  '--minimum-container-ttl-duration=1m',
  '--hostname-override=n1',
  '--node-ip=192.0.2.2',
  '--node-ip=',
  '--node-ip=192.0.2.2,nonsense',
  '--node-ip=::',
  '--cloud-provider=external',
  '--cloud-provider=',
  '--hostname-override=',
  '--node-labels=a=b,c=d',
  '--node-cpu=2',
  '--node-memory=4Gi',
  '--image-credential-provider-config=/c',
  '--image-credential-provider-bin-dir=/b',
  '--no-admission',
  '--stop-pods-on-exit',
];

test.each(['--pod-manifest-path=/m', '--pod_manifest_path=/m'])('%s may be missing', async (flag) => {
  const stderr = 'kcri: warning: /m: path does not exist\n';
  expect(await runKcri(['kubelet', flag, '--check-config'])).toEqual({stdout: '', stderr, exitCode: 0});
});

test.each(FLAGS)('%s is accepted', async (flag) => {
  const result = await runKcri(['kubelet', ...flag.split(' '), '--check-config']);
  expect(result).toEqual({stdout: '', stderr: '', exitCode: 0});
});

test.each([
  ['--max-pods=many', 'invalid argument "many" for "--max-pods" flag: must be an integer'],
  ['--sync-frequency=1x', 'syncFrequency: Invalid value: "1x": time: unknown unit "x" in duration "1x"'],
  ['--logging-format=xml', 'logging.format (--logging-format) "xml" must be one of: "text", "json"'],
  ['--manifest-url=/m', 'staticPodURL (--manifest-url) "/m" must be an http or https URL'],
  ['--bootstrap-kubeconfig=/k', '--bootstrap-kubeconfig requires --kubeconfig'],
  ['--kubeconfig=/nonexistent', '"/nonexistent": no such file or directory'],
  ['--register-with-taints=a', '"a" is not KEY=VALUE:EFFECT'],
  ['--pod-manifest-paht=/m', 'did you mean --pod-manifest-path?'],
  ['--cloud-provider=aws', 'cloud provider "aws" was specified, but built-in cloud providers are disabled'],
  [
    '--node-ip=192.0.2.1,192.0.2.2',
    'bad --node-ip "192.0.2.1,192.0.2.2": must contain either a single IP or a dual-stack pair of IPs',
  ],
  ['--hostname-override=  ', 'the name of the node is empty'],
  ['--config=/nonexistent', 'cannot read configuration "/nonexistent": no such file or directory'],
])('%s is rejected', async (flag, message) => {
  const {stderr, exitCode} = await runKcri(['kubelet', flag, '--check-config']);
  expect(exitCode).toBe(1);
  expect(stderr).toContain(message);
});

const HEAD = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';

test.each([
  ['cpuManagerPolicy: foo', ['the cpu manager cannot start', 'unknown policy: "foo"', 'none or static']],
  [
    'cpuManagerPolicy: static\nkubeReserved: {cpu: 100m}\ncpuManagerPolicyOptions: {full-pcpus-only: maybe}',
    ['bad value for option "full-pcpus-only"', 'set full-pcpus-only to true or false'],
  ],
  [
    'cpuManagerPolicy: static\nkubeReserved: {cpu: 100m}\ncpuManagerPolicyOptions: {bogus: "true"}',
    ['unknown CPU Manager Policy option: "bogus"', 'use one of full-pcpus-only, '],
  ],
  ['cpuManagerPolicy: static', ['unable to determine reserved CPU resources', 'reservedSystemCPUs']],
  ['cpuManagerPolicyOptions: {full-pcpus-only: "true"}', ['None policy: received unsupported options']],
  ['reservedSystemCPUs: "60000"', ['reserved-cpus: 60000 is not a subset', 'change reservedSystemCPUs']],
  [
    'memoryManagerPolicy: foo',
    ['the memory manager cannot start', 'unknown policy: "foo"', 'None or Static'],
  ],
  [
    'memoryManagerPolicy: Static\nreservedMemory: [{numaNode: 999, limits: {memory: 1Gi}}]',
    ['references a NUMA node 999 that does not exist', 'change numaNode in reservedMemory'],
  ],
  [
    'memoryManagerPolicy: Static\nreservedMemory: [{numaNode: 0, limits: {memory: 1Ki}}]',
    ['the total amount "1Ki" of type "memory" is not equal to the value "100Mi"', 'kubeReserved'],
  ],
  [
    'topologyManagerPolicy: restricted\ntopologyManagerPolicyOptions: {bogus: "1"}',
    ['the topology manager cannot start', 'unknown Topology Manager Policy option: "bogus"'],
  ],
])('--check-config reports %j', async (fields, texts) => {
  const file = join(directory, 'kubelet.yaml');
  await writeFile(file, `${HEAD}evictionHard: {memory.available: 100Mi}\n${fields}\n`);
  const {stderr, exitCode} = await runKcri(['kubelet', '--config', file, '--check-config']);
  expect(exitCode).toBe(1);
  for (const text of texts) expect(stderr).toContain(text);
});

test('--check-config reports each manager that cannot start', async () => {
  const file = join(directory, 'kubelet.yaml');
  await writeFile(file, `${HEAD}cpuManagerPolicy: foo\nmemoryManagerPolicy: bar\n`);
  const {stderr} = await runKcri(['kubelet', '--config', file, '--check-config']);
  expect(stderr).toContain('unknown policy: "foo"');
  expect(stderr).toContain('unknown policy: "bar"');
});

test('an invalid kubeconfig is reported before the runtime is looked for', async () => {
  const {stderr, exitCode} = await runKcri(['kubelet', '--kubeconfig=/nonexistent']);
  expect(exitCode).toBe(1);
  expect(stderr).toContain('"/nonexistent": no such file or directory');
  expect(stderr).not.toContain('no container runtime found');
});

test('the configuration file and its drop-in files are checked together', async () => {
  await writeFile(join(directory, 'kubelet.yaml'), `${HEAD}contentType: a/b\nmaxPods: -1\n`);
  await writeFile(join(directory, '10-own.conf'), `${HEAD}maxPods: 7\n`);
  await writeFile(join(directory, 'notes.txt'), 'not: read\n');
  const args = ['--config', join(directory, 'kubelet.yaml'), '--config-dir', directory, '--check-config'];
  const {stdout, exitCode} = await runKcri(['kubelet', ...args]);
  expect(stdout).toMatch(/^contentType has no effect: .*\n$/);
  expect(exitCode).toBe(0);
});

test('--print-unit prints a unit with the other options', async () => {
  const {stdout} = await runKcri(['kubelet', '--pod-manifest-path', '/m', '--print-unit']);
  expect(stdout).toMatch(/^ExecStart=\S*node \S+ kubelet --pod-manifest-path \/m$/m);
});

describe('on a runtime', () => {
  test('runs static pods until it is stopped, and publishes itself', async () => {
    await using runtime = await FakeRuntime.start({
      images: [anImage({name: 'docker.io/library/busybox:1'})],
    });
    const manifests = join(directory, 'manifests');
    await mkdir(manifests);
    await writeFile(join(manifests, 'web.yaml'), WEB_MANIFEST);
    const end = new AbortController();
    const rootDir = join(directory, 'root');
    const args = [
      'kubelet',
      '--root-dir',
      rootDir,
      '--pod-manifest-path',
      manifests,
      '--hostname-override=n1',
    ];
    const quiet = [
      '--oom-score-adj=0',
      '--enable-server=false',
      '--healthz-port=0',
      '--no-admission',
      '--cloud-config=x',
    ];
    const exited = runKcri([...args, ...quiet, `--pod-logs-dir=${directory}/logs`, '--v=2'], {
      endpoint: runtime.endpoint,
      signal: end.signal,
    });
    await until(() => runtime.callsTo('StartContainer').length === 1);
    const found = JSON.parse(await readFile(join(rootDir, 'kcri/kubelet.json'), 'utf8')) as object;
    expect(found).toMatchObject({pid: programPid(), endpoint: runtime.endpoint});
    sendHangup();
    end.abort();
    const {stdout, stderr, exitCode} = await exited;
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 0});
    expect(stderr).toMatch(
      /^I\d{4} [\d:.]+ +\d+ [\w-]+\.[jt]s:\d+\] "Settings have no effect" settings=\["--cloud-config: built-in cloud providers have been removed from Kubernetes"\]$/m,
    );
    expect(stderr).toMatch(/"SyncLoop ADD" source="file" pods=\["default\/web-n1"\]$/m);
    expect(stderr).toMatch(/"Received SIGHUP, reloading configuration and manifests"$/m);
    expect(runtime.callsTo('StopContainer')).toEqual([]);
    await expect(readFile(join(rootDir, 'kcri/kubelet.json'))).rejects.toThrow('ENOENT');
  });
});
