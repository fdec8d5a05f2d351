// Measures a takeover of pods that another kubelet has left against a plain restart of kcri with its own pods, in turns, on the
// fake runtime: static pods with a daemon in a process of its own, then pods of a fake API server in this process.
// Usage: npm run bench:kubelet-takeover [-- --pods=100] [--containers=2] [--rounds=5]
import {rm} from 'node:fs/promises';
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';
import {setTimeout as delay} from 'node:timers/promises';
import {parseArgs} from 'node:util';
import {buildTestPrograms} from '../../scripts/build-test-programs.mjs';
import {withScaleNode} from './kubelet/scale-node.mjs';
import {median} from './median.mjs';

const {values} = parseArgs({
  options: {
    pods: {type: 'string', default: '100'},
    containers: {type: 'string', default: '2'},
    rounds: {type: 'string', default: '5'},
  },
});
const CHANGES = /^(RunPodSandbox|Stop|Remove|Create|Start|Update)/;
/** Time after the last status in which nothing may change, in ms. */
const SETTLE_MS = 3000;

await withScaleNode(
  {pods: Number(values.pods), containers: Number(values.containers), factor: 1},
  async (node) => {
    await startOnce(node);
    const found = {restart: [], takeover: []};
    for (let round = 0; round < Number(values.rounds); round += 1)
      for (const kind of ['restart', 'takeover']) {
        if (kind === 'takeover') await rm(join(node.directory, 'root/kcri'), {recursive: true});
        found[kind].push(await measure(node));
      }
    process.stdout.write('          all ready    CRI calls  changes  restarts  CPU time  memory\n');
    for (const [kind, rounds] of Object.entries(found)) process.stdout.write(`${row(kind, rounds)}\n`);
  },
);

await measureCluster();

async function measureCluster() {
  const [path] = await buildTestPrograms('takeover-bench', ['bench/kubelet/takeover-cluster.ts']);
  const {measureClusterTakeover} = await import(pathToFileURL(path).href);
  const numbers = {pods: Number(values.pods), containers: Number(values.containers)};
  const results = await measureClusterTakeover({...numbers, rounds: Number(values.rounds)});
  process.stdout.write('          full status  API requests  pod changes  not ready  missed probes\n');
  for (const kind of ['restart', 'takeover']) {
    const of = (field) => results.filter((result) => result.kind === kind).map((result) => result[field]);
    const cells = [
      kind.padEnd(9),
      `${(median(of('fullStatusMs')) / 1000).toFixed(2)} s`.padStart(11),
      String(median(of('apiRequests'))).padStart(13),
      ...[
        ['podChanges', 12],
        ['notReady', 10],
        ['missedProbes', 14],
      ].map(([field, width]) => String(Math.max(...of(field))).padStart(width)),
    ];
    process.stdout.write(`${cells.join(' ')}\n`);
  }
}

async function startOnce(node) {
  node.start({eventedPleg: true});
  await untilReady(node);
  await node.stop();
}

async function measure(node) {
  const before = node.fake.calls.length;
  const startedAt = performance.now();
  node.start({eventedPleg: true});
  const cpuSeconds = await untilReady(node);
  const seconds = (performance.now() - startedAt) / 1000;
  const calls = node.fake.calls.length - before;
  await delay(SETTLE_MS);
  const {rss, restarts} = await node.cost();
  const changes = node.fake.calls.slice(before).filter(({method}) => CHANGES.test(method)).length;
  await node.stop();
  return {seconds, calls, changes, restarts, cpuSeconds, rss};
}

/** Resolves with the CPU time of the daemon until it knows that all containers are ready. */
async function untilReady(node) {
  let cpuSeconds = 0;
  for (;;) {
    const cost = await node.cost();
    cpuSeconds += cost.cpuSeconds;
    if (cost.ready === node.pods * node.containers) return cpuSeconds;
    await delay(20);
  }
}

function row(kind, rounds) {
  const of = (field) => median(rounds.map((round) => round[field]));
  const worst = (field) => Math.max(...rounds.map((round) => round[field]));
  return [
    kind.padEnd(9),
    `${of('seconds').toFixed(2)} s`.padStart(9),
    String(of('calls')).padStart(12),
    String(worst('changes')).padStart(8),
    String(worst('restarts')).padStart(9),
    `${of('cpuSeconds').toFixed(2)} s`.padStart(9),
    `${of('rss').toFixed(0)} MiB`.padStart(7),
  ].join(' ');
}
