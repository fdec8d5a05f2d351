// Runs kcri and a kubelet in turns on one containerd and one API server, with csi-driver-host-path and its node-driver-registrar:
// the time from the creation of a pod to its phase Running, without volumes, with an inline volume and with a PersistentVolume.
// Usage: npm run bench:csi-turns -- --programs=DIR [--turns=2] [--rounds=4]      (needs root and containerd; 5 minutes)
// DIR has etcd, kube-apiserver, kubelet, hostpathplugin and csi-node-driver-registrar.
import {execFile, spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdir, writeFile} from 'node:fs/promises';
import {loadavg} from 'node:os';
import {join} from 'node:path';
import {setTimeout as delay} from 'node:timers/promises';
import {parseArgs, promisify} from 'node:util';
import {buildTestPrograms} from '../../scripts/build-test-programs.mjs';
import {ensureSecondContainerd} from '../../scripts/test-runtimes/second-containerd.mjs';
import {sleeper, PROGRAM, until, withNode} from './kubelet/node.mjs';
import {median} from './median.mjs';

const {values} = parseArgs({
  options: {
    programs: {type: 'string'},
    turns: {type: 'string', default: '2'},
    rounds: {type: 'string', default: '4'},
  },
});
const {programs} = values;
if (programs === undefined) {
  process.stderr.write('--programs is missing: a directory with a control plane, a kubelet and a driver\n');
  process.exit(1);
}
const NODE = 'bench-node';
const DRIVER = 'hostpath.csi.k8s.io';
const CGROUP_ROOT = `/kcri-bench-${process.pid}`;
const KINDS = ['without volumes', 'inline volume', 'PersistentVolume'];
/** Time in which a kubelet settles after its start, and between two pods, in ms. */
const [SETTLE_MS, PAUSE_MS] = [5000, 500];

const [compiled] = await buildTestPrograms('bench-csi-turns', ['bench/csi/csi-cluster.ts']);
const {createVolumeOf, freePorts, startControlPlane} = await import(compiled);
const second = await ensureSecondContainerd((step) => process.stderr.write(`${step}\n`));
await withNode(second ?? {}, async (node) => {
  const plane = await startControlPlane(programs, [NODE], {controllers: false});
  const api = await openApi(plane.kubectl);
  try {
    await prepare(api);
    process.stdout.write(`containerd ${node.version}; load ${loadavg()[0].toFixed(1)}\n`);
    const times = {kcri: [], kubelet: []};
    for (let turn = 0; turn < Number(values.turns); turn += 1)
      for (const name of turn % 2 === 0 ? ['kcri', 'kubelet'] : ['kubelet', 'kcri'])
        times[name].push(...(await playTurn(node, plane, {api, name, turn})));
    process.stdout.write(`${table(times)}load ${loadavg()[0].toFixed(1)}\n`);
  } finally {
    api.close();
    await plane[Symbol.asyncDispose]();
  }
});

/** Opens the API server through `kubectl proxy`. */
async function openApi(kubectl) {
  const [port] = await freePorts(1);
  const proxy = kubectl.start(['proxy', `--port=${port}`]);
  await proxy.waitForOutput(/Starting to serve/);
  const server = `http://127.0.0.1:${port}`;
  const request = async (method, path, body) => {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const options = {method, headers: {'content-type': type}, body: body && JSON.stringify(body)};
    const response = await fetch(`${server}${path}`, options);
    const answer = await response.json();
    if (!response.ok && response.status !== 404) throw new Error(`${method} ${path}: ${answer.message}`);
    return answer;
  };
  return {request, server, close: () => proxy.kill('SIGKILL')};
}

/** Creates what a controller manager would. */
async function prepare({request}) {
  await until(
    'the namespace exists',
    async () => (await request('GET', '/api/v1/namespaces/default')).kind === 'Namespace',
  );
  await request('POST', '/api/v1/namespaces/default/serviceaccounts', {metadata: {name: 'default'}});
  await request('POST', '/apis/storage.k8s.io/v1/csidrivers', {
    metadata: {name: DRIVER},
    spec: {attachRequired: false, podInfoOnMount: true, volumeLifecycleModes: ['Persistent', 'Ephemeral']},
  });
}

/** Starts one of the programs and a driver, and returns the times of its pods in ms, by kind. */
async function playTurn(node, plane, {api, name, turn}) {
  const directory = join(node.rootDir, `${name}-${turn}`);
  const rootDir = join(directory, 'root');
  for (const folder of ['root/plugins/hostpath', 'root/plugins_registry', 'data', 'logs'])
    await mkdir(join(directory, folder), {recursive: true});
  const socket = join(rootDir, 'plugins/hostpath/csi.sock');
  const driver = start('hostpathplugin', [
    ...[`--endpoint=unix://${socket}`, `--nodeid=${NODE}`, `--statedir=${join(directory, 'data')}`],
  ]);
  const registrar = start('csi-node-driver-registrar', [
    ...[`--csi-address=${socket}`, `--kubelet-registration-path=${socket}`],
    `--plugin-registration-path=${join(rootDir, 'plugins_registry')}`,
  ]);
  const kubelet = await startKubelet(node, plane, {name, directory, rootDir});
  try {
    await until(`${name} has registered the driver`, async () => {
      const {spec} = await api.request('GET', `/apis/storage.k8s.io/v1/csinodes/${NODE}`);
      return spec?.drivers?.some((one) => one.name === DRIVER) === true;
    });
    await delay(SETTLE_MS);
    const rounds = [];
    for (let round = 0; round <= Number(values.rounds); round += 1) {
      const times = {};
      for (const [index, kind] of KINDS.entries()) {
        const pod = `${name}-${turn}-${round}-${index}`;
        const volume = await createVolume(api, {kind, name: pod, socket});
        times[kind] = await timeToRun(api, pod, volume);
        await removePod(api, pod);
        await delay(PAUSE_MS);
      }
      process.stderr.write(`${name} ${JSON.stringify(times)}\n`);
      if (round > 0) rounds.push(times); // the first one warms up
    }
    return rounds;
  } finally {
    for (const program of [kubelet, registrar, driver]) await stop(program);
    await api.request('DELETE', `/apis/storage.k8s.io/v1/csinodes/${NODE}`);
    await api.request('DELETE', `/api/v1/nodes/${NODE}`);
    // A kubelet mounts its root directory on itself.
    await promisify(execFile)('umount', ['--lazy', rootDir]).catch(() => undefined);
  }
}

async function startKubelet(node, plane, {name, directory, rootDir}) {
  const config = {
    ...{apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration'},
    ...{enableServer: false, healthzPort: 0, containerRuntimeEndpoint: node.endpoint},
    ...{cgroupDriver: 'cgroupfs', failSwapOn: false, failCgroupV1: false, enforceNodeAllocatable: []},
    podLogsDir: join(directory, 'logs'),
  };
  const file = join(directory, 'config.json');
  await writeFile(file, JSON.stringify(config));
  const flags = [
    ...['--config', file, '--root-dir', rootDir, '--hostname-override', NODE],
    ...['--kubeconfig', plane.kubeconfigOf(NODE)],
  ];
  if (name === 'kubelet') return start('kubelet', ['--cert-dir', join(directory, 'pki'), ...flags]);
  const [program, ...leading] = PROGRAM;
  const env = {...process.env, KCRI_ROOT_DIR: directory};
  return spawn(program, [...leading, 'kubelet', ...flags, '--cgroup-root', CGROUP_ROOT, '--no-admission'], {
    ...{env, stdio: ['ignore', 'ignore', process.env.KCRI_BENCH_LOG === undefined ? 'ignore' : 'inherit']},
  });
}

function start(program, args) {
  const stderr = process.env.KCRI_BENCH_LOG === undefined ? 'ignore' : 'inherit';
  return spawn(join(programs, program), args, {stdio: ['ignore', 'ignore', stderr]});
}

async function stop(program) {
  if (program.exitCode !== null || program.signalCode !== null) return;
  program.kill('SIGTERM');
  await once(program, 'exit');
}

/** Creates the volume of a pod, and returns its source in the pod. */
async function createVolume({request}, {kind, name, socket}) {
  if (kind === KINDS[0]) return undefined;
  if (kind === KINDS[1]) return {csi: {driver: DRIVER}};
  const handle = await createVolumeOf(socket, name);
  const spec = {accessModes: ['ReadWriteOnce'], storageClassName: ''};
  const size = {storage: '1Mi'};
  const claims = '/api/v1/namespaces/default/persistentvolumeclaims';
  const claim = await request('POST', claims, {
    metadata: {name},
    spec: {...spec, volumeName: name, resources: {requests: size}},
  });
  const claimRef = {kind: 'PersistentVolumeClaim', namespace: 'default', name, uid: claim.metadata.uid};
  await request('POST', '/api/v1/persistentvolumes', {
    metadata: {name},
    spec: {...spec, capacity: size, claimRef, csi: {driver: DRIVER, volumeHandle: handle}},
  });
  const status = {phase: 'Bound', accessModes: ['ReadWriteOnce'], capacity: size};
  await request('PATCH', `${claims}/${name}/status`, {status});
  await request('PATCH', `/api/v1/persistentvolumes/${name}/status`, {status: {phase: 'Bound'}});
  return {persistentVolumeClaim: {claimName: name}};
}

/** Creates a pod and returns the time until the API server has its phase Running, in ms. */
async function timeToRun({request, server}, name, volume) {
  const query = new URLSearchParams({watch: '1', fieldSelector: `metadata.name=${name}`});
  const watch = await fetch(`${server}/api/v1/namespaces/default/pods?${query}`);
  const mounts = volume === undefined ? [] : [{name: 'v', mountPath: '/v'}];
  const createdAt = performance.now();
  await request('POST', '/api/v1/namespaces/default/pods', {
    metadata: {name},
    spec: {
      ...{nodeName: NODE, hostNetwork: true, automountServiceAccountToken: false},
      terminationGracePeriodSeconds: 0,
      containers: [sleeper('main', {volumeMounts: mounts})],
      volumes: volume === undefined ? [] : [{name: 'v', ...volume}],
    },
  });
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of watch.body) {
    text += decoder.decode(chunk, {stream: true});
    if (text.includes('"phase":"Running"')) return performance.now() - createdAt;
  }
  throw new Error(`the watch of ${name} has ended: ${text}`);
}

/** Deletes a pod as a user does, and waits until its kubelet has removed it. */
async function removePod({request}, name) {
  const path = `/api/v1/namespaces/default/pods/${name}`;
  await request('DELETE', path, {gracePeriodSeconds: 1});
  await until(`${name} is gone`, async () => (await request('GET', path)).kind === 'Status');
}

function table({kcri, kubelet}) {
  const of = (rounds, kind) => rounds.map((times) => times[kind]);
  const range = (list) => `${Math.min(...list).toFixed(0)} to ${Math.max(...list).toFixed(0)}`;
  const rows = KINDS.map((kind) => {
    const [ours, theirs] = [of(kcri, kind), of(kubelet, kind)];
    const cells = [ours, theirs].map((list) => `${median(list).toFixed(0)} (${range(list)})`);
    return `| ${kind} | ${cells.join(' | ')} | ${(median(ours) / median(theirs)).toFixed(2)} |`;
  });
  const head = `| creation to Running in ms, ${kcri.length} rounds | kcri | kubelet | ratio |`;
  return `${[head, '|---|---:|---:|---:|', ...rows].join('\n')}\n`;
}
