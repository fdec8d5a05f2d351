// Runs a kubelet and kcri in turns on one containerd and one API server with the same tracing configuration and the same pods
// and requests, and prints which shapes of spans only one of them sends; `--golden=FILE` writes the kubelet's shapes.
// Usage: npm run bench:trace-turns -- --programs=DIR [--golden=FILE]      (needs root and containerd; 3 minutes)
// DIR has etcd, kube-apiserver and kubelet.
import {execFile, spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdir, rm, writeFile} from 'node:fs/promises';
import {request as httpsRequest} from 'node:https';
import {join} from 'node:path';
import {setTimeout as delay} from 'node:timers/promises';
import {parseArgs, promisify} from 'node:util';
import {buildTestPrograms} from '../../scripts/build-test-programs.mjs';
import {ensureSecondContainerd} from '../../scripts/test-runtimes/second-containerd.mjs';
import {PROGRAM, sleeper, until, withNode} from './kubelet/node.mjs';

const {values} = parseArgs({
  options: {
    programs: {type: 'string'},
    golden: {type: 'string'},
  },
});
const {programs} = values;
if (programs === undefined) {
  process.stderr.write('--programs is missing: a directory with a control plane and a kubelet\n');
  process.exit(1);
}
const NODE = 'bench-node';
const CGROUP_ROOT = `/kcri-bench-${process.pid}`;
/** Time after which spans have been sent: the interval of the batches is 5 s. */
const SENT_MS = 7000;

const PROBED = {
  containers: [sleeper('main', {readinessProbe: {exec: {command: ['true']}, periodSeconds: 1}})],
};
/** ID of the trace of a client of the kubelet's server. */
const TRACE = 'a'.repeat(32);

const [cluster, receiver, shapes] = await buildTestPrograms('bench-trace-turns', [
  'bench/csi/csi-cluster.ts',
  'cli/diagnostics/otlp-receiver.ts',
  'golden/tracing/span-shapes.ts',
]);
const {freePorts, startControlPlane} = await import(cluster);
const {OtlpReceiver} = await import(receiver);
const {shapesOf} = await import(shapes);
const second = await ensureSecondContainerd((step) => process.stderr.write(`${step}\n`));
await withNode(second ?? {}, async (node) => {
  const plane = await startControlPlane(programs, [NODE], {controllers: false});
  const [port] = await freePorts(1);
  const proxy = plane.kubectl.start(['proxy', `--port=${port}`]);
  try {
    await proxy.waitForOutput(/Starting to serve/);
    const api = openApi(`http://127.0.0.1:${port}`);
    await until(
      'the namespace exists',
      async () => (await api('GET', '/api/v1/namespaces/default')).kind === 'Namespace',
    );
    await api('POST', '/api/v1/namespaces/default/serviceaccounts', {metadata: {name: 'default'}});
    const [theirs, ours] = [await play(node, plane, api, 'kubelet'), await play(node, plane, api, 'kcri')];
    const only = (shapes, others, sign) =>
      shapes.filter((shape) => !others.includes(shape)).map((shape) => `${sign} ${shape}\n`);
    process.stdout.write([...only(theirs, ours, '-'), ...only(ours, theirs, '+')].join(''));
    if (values.golden !== undefined)
      // The golden shapes are those of spans, without the resource.
      await writeFile(values.golden, `${JSON.stringify(theirs.slice(1), undefined, 2)}\n`);
  } finally {
    proxy.kill('SIGKILL');
    await plane[Symbol.asyncDispose]();
  }
});

function openApi(server) {
  return async (method, path, body) => {
    const headers = {'content-type': 'application/json'};
    const response = await fetch(`${server}${path}`, {method, headers, body: body && JSON.stringify(body)});
    return await response.json();
  };
}

async function play(node, plane, api, name) {
  const directory = join(node.rootDir, name);
  for (const folder of ['root', 'logs', 'manifests']) await mkdir(join(directory, folder), {recursive: true});
  const collector = await OtlpReceiver.start();
  const [port, readOnlyPort] = await freePorts(2);
  const kubelet = await start(node, plane, {name, directory, port, readOnlyPort, collector});
  try {
    await until(
      `${name} has registered`,
      async () => (await api('GET', `/api/v1/nodes/${NODE}`)).kind === 'Node',
    );
    await delay(5000);
    const pods = '/api/v1/namespaces/default/pods';
    await writeFile(join(directory, 'manifests/static.json'), JSON.stringify(aPod('static')));
    for (const pod of [
      aPod('good', PROBED),
      aPod('bad', {containers: [sleeper('main', {image: 'localhost:1/none:1'})]}),
      aPod('once', {restartPolicy: 'Never', containers: [sleeper('main', {command: ['true']})]}),
    ])
      await api('POST', pods, pod);
    const phase = async (pod) => (await api('GET', `${pods}/${pod}`)).status?.phase;
    const ready = async () =>
      (await api('GET', `${pods}/good`)).status?.conditions?.some(
        (c) => c.type === 'Ready' && c.status === 'True',
      ) === true;
    await until('the pods run', async () => (await ready()) && (await phase('once')) === 'Succeeded');
    await until('the static pod', async () => (await phase(`static-${NODE}`)) === 'Running');
    await delay(3000);
    await requests(port, readOnlyPort);
    for (const pod of ['good', 'bad', 'once']) await api('DELETE', `${pods}/${pod}`, {gracePeriodSeconds: 1});
    await rm(join(directory, 'manifests/static.json'));
    await until('the pods are gone', async () => (await api('GET', pods)).items.length === 0);
    await delay(60_000); // GC of containers runs every minute
    await delay(SENT_MS);
  } finally {
    kubelet.kill('SIGTERM');
    if (kubelet.exitCode === null) await once(kubelet, 'exit');
    await api('DELETE', `/api/v1/nodes/${NODE}`);
    await promisify(execFile)('umount', ['--lazy', join(directory, 'root')]).catch(() => undefined);
  }
  await collector[Symbol.asyncDispose]();
  return [`resource: ${Object.keys(collector.resource).toSorted().join(' ')}`, ...shapesOf(collector.spans)];
}

function aPod(name, spec = {}) {
  return {
    ...{apiVersion: 'v1', kind: 'Pod', metadata: {name, namespace: 'default'}},
    spec: {
      ...(name !== 'static' && {nodeName: NODE}),
      ...{hostNetwork: true, automountServiceAccountToken: false, terminationGracePeriodSeconds: 0},
      containers: [sleeper('main')],
      ...spec,
    },
  };
}

async function requests(port, readOnlyPort) {
  const traceparent = (id, flags) => ({traceparent: `00-${TRACE}-${id}-${flags}`});
  const ask = async (method, path, headers = {}) => {
    const r = httpsRequest({
      host: '127.0.0.1',
      port,
      method,
      path,
      rejectUnauthorized: false,
      headers: {'user-agent': 'walk', ...headers},
    });
    r.end();
    const [response] = await Promise.race([once(r, 'response'), once(r, 'upgrade')]);
    process.stderr.write(`${method} ${path}: ${response.statusCode}\n`);
    if (response.statusCode === 101) response.socket.destroy();
    else await once(response.resume(), 'end');
  };
  const log = '/containerLogs/default/good/main';
  await ask('GET', log, traceparent('1111111111111111', '01'));
  await ask('GET', log, traceparent('2222222222222222', '00'));
  await ask('GET', log);
  await ask('POST', '/run/default/good/main?cmd=true', traceparent('3333333333333333', '01'));
  await ask('GET', '/exec/default/good/main?command=true&output=1', {
    ...traceparent('4444444444444444', '01'),
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
    'sec-websocket-protocol': 'v5.channel.k8s.io',
  });
  for (const path of [
    '/pods',
    '/healthz',
    '/metrics',
    '/stats/summary',
    '/nope',
    '/containerLogs/default/none/main',
    '/configz',
    '/runningpods/',
    '/logs',
    '/exec/default/good/main',
  ])
    await ask('GET', path);
  await ask('POST', '/pods');
  const readOnly = `http://127.0.0.1:${readOnlyPort}`;
  const agent = {'user-agent': 'walk'};
  await fetch(`${readOnly}/pods`, {headers: {...agent, ...traceparent('5555555555555555', '01')}});
  for (const path of ['/pods', '/healthz', '/exec/default/good/main'])
    await fetch(`${readOnly}${path}`, {headers: agent});
}

async function start(node, plane, {name, directory, port, readOnlyPort, collector}) {
  const config = {
    ...{apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration'},
    ...{address: '127.0.0.1', port, readOnlyPort, healthzPort: 0, containerRuntimeEndpoint: node.endpoint},
    ...{cgroupDriver: 'cgroupfs', failSwapOn: false, failCgroupV1: false, enforceNodeAllocatable: []},
    podLogsDir: join(directory, 'logs'),
    authentication: {anonymous: {enabled: true}, webhook: {enabled: false}},
    authorization: {mode: 'AlwaysAllow'},
    ...(name === 'kubelet' && {staticPodPath: join(directory, 'manifests')}),
    tracing: {endpoint: collector.endpoint, samplingRatePerMillion: 1_000_000},
  };
  const file = join(directory, 'config.json');
  await writeFile(file, JSON.stringify(config));
  const flags = [
    '--config',
    file,
    '--root-dir',
    join(directory, 'root'),
    '--hostname-override',
    NODE,
    '--kubeconfig',
    plane.kubeconfigOf(NODE),
  ];
  const stdio = ['ignore', 'ignore', process.env.KCRI_BENCH_LOG === undefined ? 'ignore' : 'inherit'];
  if (name === 'kubelet')
    return spawn(join(programs, 'kubelet'), ['--cert-dir', join(directory, 'pki'), ...flags], {stdio});
  const [program, ...leading] = PROGRAM;
  return spawn(
    program,
    [
      ...leading,
      'kubelet',
      ...flags,
      '--cgroup-root',
      CGROUP_ROOT,
      '--no-admission',
      '--pod-manifest-path',
      join(directory, 'manifests'),
    ],
    {
      env: {...process.env, KCRI_ROOT_DIR: directory},
      stdio,
    },
  );
}
