// Runs kcri and a kubelet in turns on one containerd: twenty pods at once, then a kill of some of their containers. Prints
// the median of each, and of the rounds' ratios. // Usage: npm run bench:kubelet-turns -- --kubelet=FILE [--rounds=5] [--kills=8]      (needs root and containerd; 2 minutes a round)
import {execFile, spawn} from 'node:child_process';
import {once} from 'node:events';
import {readFileSync} from 'node:fs';
import {mkdir, rename, rm, writeFile} from 'node:fs/promises';
import {loadavg} from 'node:os';
import {join} from 'node:path';
import {setTimeout as delay} from 'node:timers/promises';
import {parseArgs, promisify} from 'node:util';
import {ensureSecondContainerd} from '../../scripts/test-runtimes/second-containerd.mjs';
import {aPod, NODE_NAME, PROGRAM, until, withNode} from './kubelet/node.mjs';
import {watchStarts} from './kubelet/watch-starts.mjs';

const PODS = Array.from({length: 20}, (_, index) => `many-${index}`);
/** Time in ms after the start and after the pods run, in which the program settles. */
const SETTLE_MS = 6000;
const AFTERWARDS_MS = 2500;
const TICK_MS = 10;

const {values} = parseArgs({
  options: {
    kubelet: {type: 'string'},
    rounds: {type: 'string', default: '5'},
    kills: {type: 'string', default: '8'},
  },
});
if (values.kubelet === undefined) {
  process.stderr.write('--kubelet is missing: the file of a kubelet of the same version\n');
  process.exit(1);
}
const kills = Number(values.kills);

/** The programs, with the arguments and the fields of the configuration that each needs besides the common ones. */
const CONTENDERS = {
  kcri: {
    command: PROGRAM,
    args: (directory) => [
      ...['kubelet', '--pod-manifest-path', join(directory, 'manifests'), '--no-admission'],
      ...['--pod-logs-dir', join(directory, 'logs'), '--cgroup-root', `/kcri-bench-${process.pid}`],
    ],
    config: () => [],
  },
  kubelet: {
    command: [values.kubelet],
    args: (directory) => ['--cert-dir', join(directory, 'pki')],
    config: (directory) => [
      ...[`staticPodPath: ${directory}/manifests`, `podLogsDir: ${directory}/logs`, 'failSwapOn: false'],
      ...['cgroupDriver: cgroupfs', 'failCgroupV1: false', 'enforceNodeAllocatable: []'],
      'authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}',
      'authorization: {mode: AlwaysAllow}',
    ],
  },
};

const second = await ensureSecondContainerd((step) => process.stderr.write(`${step}\n`));
await withNode(second ?? {}, async (node) => {
  process.stdout.write(`containerd ${node.version}; load ${loadavg()[0].toFixed(1)}\n`);
  const started = watchStarts(node);
  const rounds = [];
  for (let round = 0; round < Number(values.rounds); round += 1) {
    const names = Object.keys(CONTENDERS);
    const results = {};
    for (const name of round % 2 === 0 ? names : names.toReversed())
      results[name] = await measure(node, started, name, join(node.rootDir, `${name}-${round}`));
    rounds.push(results);
    process.stderr.write(`${JSON.stringify(results)}; load ${loadavg()[0].toFixed(1)}\n`);
  }
  process.stdout.write(table(rounds));
});

/** Runs one program with pods of its own, and removes everything. */
async function measure(node, started, name, directory) {
  const manifests = join(directory, 'manifests');
  await mkdir(manifests, {recursive: true});
  const daemon = await start(node, CONTENDERS[name], directory);
  try {
    await delay(SETTLE_MS);
    const [cpuBefore, createdAt] = [cpuMs(daemon.pid), performance.now()];
    for (const pod of PODS) {
      await writeFile(join(manifests, `.${pod}`), JSON.stringify(aPod(pod)));
      await rename(join(manifests, `.${pod}`), join(manifests, `${pod}.json`));
    }
    const times = await Promise.all(PODS.map((pod) => started.after(pod, createdAt)));
    const sorted = times.map((at) => at - createdAt).toSorted((a, b) => a - b);
    await delay(AFTERWARDS_MS);
    const cpu = cpuMs(daemon.pid) - cpuBefore;
    const restarts = [];
    for (const pod of PODS.slice(0, kills)) restarts.push(await timeToRestart(node, started, pod));
    return {half: sorted[PODS.length / 2], all: sorted.at(-1), cpu, restart: medianOf(restarts)};
  } finally {
    await remove(node, daemon, directory);
  }
}

async function start(node, {command: [program, ...leading], args, config}, directory) {
  const file = join(directory, 'config.yaml');
  const common = ['enableServer: false', 'healthzPort: 0', `containerRuntimeEndpoint: ${node.endpoint}`];
  const kind = ['apiVersion: kubelet.config.k8s.io/v1beta1', 'kind: KubeletConfiguration'];
  await writeFile(file, [...kind, ...common, ...config(directory), ''].join('\n'));
  const flags = ['--config', file, '--root-dir', join(directory, 'root'), '--hostname-override', NODE_NAME];
  const daemon = spawn(program, [...leading, ...args(directory), ...flags], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {...process.env, KCRI_ROOT_DIR: directory},
  });
  let log = '';
  daemon.stderr.setEncoding('utf8').on('data', (text) => (log += text));
  await until(`${program} is running`, () => {
    if (daemon.exitCode !== null) throw new Error(`${program} has exited: ${log}`);
    return log.includes('Starting kubelet main sync loop');
  });
  return daemon;
}

/** Kills a container at a random moment of the second in which a kubelet lists, and waits until it runs again. */
async function timeToRestart(node, started, pod) {
  const {id} = (await node.containers()).find(
    ({state, labels}) =>
      state === 'CONTAINER_RUNNING' && labels['io.kubernetes.pod.name'] === `${pod}-${NODE_NAME}`,
  );
  const pid = await node.pidOf(id);
  await delay(700 + Math.random() * 1000);
  const killedAt = performance.now();
  process.kill(pid, 'SIGKILL');
  return (await started.after(pod, killedAt)) - killedAt;
}

async function remove(node, daemon, directory) {
  await rm(join(directory, 'manifests'), {recursive: true});
  await until('all containers are removed', async () => (await node.containers()).length === 0);
  if (daemon.exitCode === null) {
    daemon.kill('SIGTERM');
    await once(daemon, 'exit');
  }
  for (const {id} of (await node.runtime.listPodSandbox({})).items) {
    await node.runtime.stopPodSandbox({podSandboxId: id});
    await node.runtime.removePodSandbox({podSandboxId: id});
  }
  // A kubelet mounts its root directory on itself. There is nothing to unmount after kcri.
  await promisify(execFile)('umount', [join(directory, 'root')]).catch(() => undefined);
}

/** Returns the processor time of a process and of the children that it has waited for, in ms. */
function cpuMs(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * TICK_MS, 0);
}

function medianOf(numbers) {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
}

function table(rounds) {
  const rows = {
    half: 'half of 20 pods run',
    all: 'all of 20 pods run',
    cpu: 'processor time of it',
    restart: 'killed → running again',
  };
  const lines = Object.entries(rows).map(([key, label]) => {
    const [kcri, kubelet] = Object.keys(CONTENDERS).map((name) =>
      medianOf(rounds.map((results) => results[name][key])),
    );
    const ratios = rounds.map(({kcri, kubelet}) => kcri[key] / kubelet[key]);
    const range = `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`;
    return `| ${label} | ${kcri.toFixed(0)} ms | ${kubelet.toFixed(0)} ms | ${medianOf(ratios).toFixed(2)} | ${range} |`;
  });
  return `${['| | kcri | kubelet | ratio | of the rounds |', '|---|---:|---:|---:|---|', ...lines].join('\n')}\n`;
}
