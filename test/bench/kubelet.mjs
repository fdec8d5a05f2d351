// Compares `kcri kubelet` on a real containerd with recorded results of kubelet 1.36.2 on a similar machine.
// bench:kubelet-turns compares them in one run, and needs a kubelet.
// Usage: npm run bench:kubelet [-- --rounds=9] [--idle-seconds=30]      (needs root and containerd; 2 minutes)
import {loadavg} from 'node:os';
import {setTimeout as delay} from 'node:timers/promises';
import {parseArgs} from 'node:util';
import {ensureSecondContainerd} from '../../scripts/test-runtimes/second-containerd.mjs';
import {removePod, startPod} from './kubelet/bare-pods.mjs';
import {aPod, until, withNode} from './kubelet/node.mjs';
import {watchStarts} from './kubelet/watch-starts.mjs';

/** Results of kubelet 1.36.2 with containerd 2.1.9 on two cores, and the maximum ratio of kcri's results to them. */
const RECORDED = {
  'manifest to running, ms': {kubelet: 343, maxRatio: 0.8},
  '20 pods at once, ms': {kubelet: 4600, maxRatio: 1},
  'killed to running, ms': {kubelet: 587, maxRatio: 0.35},
  '20 idle pods, % of a core': {kubelet: 1.1, maxRatio: 0.5},
  'memory with 20 pods, MB': {kubelet: 84, maxRatio: 1.2},
};
const PODS = 20;

const {values} = parseArgs({
  options: {rounds: {type: 'string', default: '9'}, 'idle-seconds': {type: 'string', default: '30'}},
});
const rounds = Number(values.rounds);
const second = await ensureSecondContainerd((step) => process.stderr.write(`${step}\n`));

await withNode(second ?? {}, async (node) => {
  process.stdout.write(`\ncontainerd ${node.version}; load ${loadavg()[0].toFixed(1)}\n`);
  const started = watchStarts(node);
  const calibration = await median(rounds, (round) => rawPod(node, round));
  await node.start();
  const measured = {
    'manifest to running, ms': await median(rounds, (round) => timeToRun(node, started, `one-${round}`)),
    'killed to running, ms': await median(rounds, () => timeToRestart(node, started)),
    '20 pods at once, ms': await timeToRunAll(node, started),
    ...(await idle(node)),
  };
  process.stdout.write(table(measured));
  process.stdout.write(
    `\nThe same pod with three direct calls (RunPodSandbox, CreateContainer, StartContainer): ${calibration.toFixed(0)} ms.\n`,
  );
});

/** Measures the three calls alone, a lower bound for any daemon. */
async function rawPod(node, round) {
  const startedAt = performance.now();
  const pod = await startPod(node, `raw-${round}`, `${node.rootDir}/raw-logs`);
  const ms = performance.now() - startedAt;
  await removePod(node, pod);
  return ms;
}

async function timeToRun(node, started, name) {
  await delay(200);
  const createdAt = performance.now();
  await node.writeManifest(aPod(name));
  return (await started.after(name, createdAt)) - createdAt;
}

/**
 * Kills one container and measures until it is running again. Each pod is killed once, so that none is in back-off.
 */
async function timeToRestart(node, started) {
  const container = (await node.containers()).find(
    ({state, metadata}) => state === 'CONTAINER_RUNNING' && metadata?.attempt === 0,
  );
  const pid = await node.pidOf(container.id);
  const pod = container.labels['io.kubernetes.pod.name'].replace('-benchnode', '');
  await delay(300);
  const killedAt = performance.now();
  process.kill(pid, 'SIGKILL');
  return (await started.after(pod, killedAt)) - killedAt;
}

/** Measures the start of 20 pods, after the removal of all others. */
async function timeToRunAll(node, started) {
  for (let round = 0; round < rounds; round += 1) await node.removeManifest(`one-${round}`);
  await until('all containers are removed', async () => (await node.containers()).length === 0);
  const names = Array.from({length: PODS}, (_, n) => `many-${n}`);
  const createdAt = performance.now();
  for (const name of names) await node.writeManifest(aPod(name));
  const times = await Promise.all(names.map((name) => started.after(name, createdAt)));
  return Math.max(...times) - createdAt;
}

async function idle(node) {
  const seconds = Number(values['idle-seconds']);
  await delay(10_000);
  const before = await node.cost();
  await delay(seconds * 1000);
  const after = await node.cost();
  return {
    '20 idle pods, % of a core': (100 * (after.cpuSeconds - before.cpuSeconds)) / seconds,
    'memory with 20 pods, MB': after.rssMib * 1.048576,
  };
}

async function median(times, measure) {
  const all = [];
  for (let round = 0; round < times; round += 1) all.push(await measure(round));
  return all.toSorted((a, b) => a - b)[Math.floor(times / 2)];
}

function table(measured) {
  const lines = Object.entries(RECORDED).map(([name, {kubelet, maxRatio}]) => {
    const kcri = measured[name];
    const ratio = kcri / kubelet;
    const mark = ratio <= maxRatio ? '' : '  missed';
    const columns = [kcri.toFixed(kcri < 10 ? 2 : 0), String(kubelet), ratio.toFixed(2), `≤ ${maxRatio}`];
    return `${name.padEnd(27)}${columns.map((column) => column.padStart(10)).join('')}${mark}`;
  });
  const header = ['kcri', 'kubelet', 'ratio', 'goal'].map((column) => column.padStart(10)).join('');
  return `${''.padEnd(27)}${header}\n${lines.join('\n')}\n`;
}
