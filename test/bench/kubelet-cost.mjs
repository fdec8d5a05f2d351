// Measures what a kubelet's pods cost by their number on the fake runtime: processor time idle, of a relist, of a sync;
// with --write into docs/performance.md, with a graph.
// Usage: npm run bench:kubelet-cost [-- --pods=10,50,100,250,500] [--minutes=3] [--factor=10] [--profile=DIR] [--write]
import {writeFileSync} from 'node:fs';
import {loadavg} from 'node:os';
import {fileURLToPath} from 'node:url';
import {parseArgs} from 'node:util';
import {lineCharts} from './kubelet/line-charts.mjs';
import {CONTAINERS, withScaleNode} from './kubelet/scale-node.mjs';
import {writeSection} from './startup/report.mjs';

const {values} = parseArgs({
  options: {
    pods: {type: 'string', default: '10,50,100,250,500'},
    minutes: {type: 'string', default: '3'},
    factor: {type: 'string', default: '10'},
    profile: {type: 'string'},
    write: {type: 'boolean', default: false},
  },
});
const minutes = Number(values.minutes);
const factor = Number(values.factor);
const SYNC_EVERY_MS = 5000;
/** How many of them follow each other, before there are none for as long. */
const SYNCS = 6;
const COUNTED = ['cpuSeconds', 'relists', 'syncs', 'seconds'];
const GRAPH = fileURLToPath(new URL('../../docs/kubelet-cost.svg', import.meta.url));

const heading = `Node.js ${process.version}, load ${loadavg()[0].toFixed(1)}; ${CONTAINERS} containers a pod:`;
const results = [];
for (const pods of values.pods.split(',').map(Number))
  await withScaleNode({pods, factor, profile: values.profile}, async (node) => {
    results.push({pods, ...(await measure(node))});
    process.stderr.write(`${pods} pods\n`);
  });
const text = `${heading}\n\n${table(results)}\n`;
process.stdout.write(text);
if (values.write) {
  writeSection(
    'kubelet-cost',
    `${text}\n![Processor time idle, of a relist and of a sync against the number of pods](kubelet-cost.svg)\n`,
  );
  writeFileSync(GRAPH, graph(results));
}

/** In seconds of the processor: at rest with the runtime's events, and what relists and syncs add to that. */
async function measure(node) {
  node.start({eventedPleg: true});
  while (!node.isComplete) await node.clock.sleep(200);
  const start = await node.cost();
  await node.clock.sleep(60_000);
  const idle = await costOf(node, () => node.clock.sleep(minutes * 60_000));
  await node.stop();

  // It relists each second, so that a sync needs no look at the pod for itself.
  node.start({eventedPleg: false});
  await node.clock.sleep(60_000);
  const relisting = [];
  const syncing = [];
  // In turns, as the compiler goes on for minutes.
  for (let round = 0; round < minutes * 2; round += 1) {
    relisting.push(await costOf(node, () => node.clock.sleep(SYNCS * SYNC_EVERY_MS)));
    syncing.push(await costOf(node, () => synced(node)));
  }
  return {
    start: start.cpuSeconds / node.pods,
    rss: idle.rss,
    ...parts(rates(idle), rates(sum(relisting)), rates(sum(syncing)), node.pods),
  };
}

/** What something costs, and in how many seconds. */
async function costOf(node, act) {
  await node.cost();
  const startedAt = node.clock.now();
  await act();
  return {...(await node.cost()), seconds: (node.clock.now() - startedAt) / 1000};
}

async function synced(node) {
  for (let n = 0; n < SYNCS; n += 1) {
    node.syncAll();
    await node.clock.sleep(SYNC_EVERY_MS);
  }
}

function sum(costs) {
  const total = (key) => costs.reduce((all, cost) => all + cost[key], 0);
  return Object.fromEntries(COUNTED.map((key) => [key, total(key)]));
}

/** All of a second. */
function rates(cost) {
  return Object.fromEntries(COUNTED.map((key) => [key, cost[key] / cost.seconds]));
}

/** What each part costs, as the rest of it goes on as before. */
function parts(idle, relisting, syncing, pods) {
  const relist = (relisting.cpuSeconds - idle.cpuSeconds) / (relisting.relists - idle.relists);
  const relisted = relist * (syncing.relists - relisting.relists);
  const sync = (syncing.cpuSeconds - relisting.cpuSeconds - relisted) / (syncing.syncs - relisting.syncs);
  return {idle: idle.cpuSeconds / pods, relist, sync};
}

function table(rows) {
  const header = [
    'pods',
    'idle, of a core',
    'idle, per pod and second',
    'a relist',
    'a sync of a pod',
    'start, per pod',
    'memory',
  ];
  const lines = rows.map(({pods, start, idle, relist, sync, rss}) => [
    pods,
    `${(100 * idle * pods).toFixed(2)} %`,
    `${(1e6 * idle).toFixed(0)} µs`,
    `${(1e3 * relist).toFixed(1)} ms`,
    `${(1e3 * sync).toFixed(2)} ms`,
    `${(1e3 * start).toFixed(1)} ms`,
    `${rss.toFixed(0)} MiB`,
  ]);
  return [header, header.map(() => '---:'), ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function graph(rows) {
  const points = (value) => rows.map((row) => ({x: row.pods, y: value(row)}));
  return lineCharts(`What a kubelet's pods cost, ${CONTAINERS} containers each`, 'pods', [
    {title: 'idle', unit: 'µs of CPU per pod and second', points: points(({idle}) => 1e6 * idle)},
    {title: 'one relist', unit: 'ms of CPU', points: points(({relist}) => 1e3 * relist)},
    {title: 'one sync of a pod', unit: 'ms of CPU', points: points(({sync}) => 1e3 * sync)},
  ]);
}
