// Measures the processor time of a kubelet by the number of its pods, on the fake runtime: idle, per relist and per
// pod sync. --write updates docs/performance.md and its graph.
// Usage: npm run bench:kubelet-cost [-- --pods=10,50,100,250,500] [--minutes=3] [--factor=10] [--profile=DIR]
// [--write]
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
/** Number of consecutive syncs, followed by an equally long pause. */
const SYNCS = 6;
const COUNTED = ['cpuSeconds', 'relists', 'syncs', 'seconds'];
const GRAPH = fileURLToPath(new URL('../../docs/kubelet-cost.svg', import.meta.url));

const heading = `Node.js ${process.version}, load ${loadavg()[0].toFixed(1)}; ${CONTAINERS} containers per pod:`;
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

/** Returns the processor time in seconds: idle with runtime events, and the cost of a relist and of a pod sync. */
async function measure(node) {
  node.start({eventedPleg: true});
  while (!node.isComplete) await node.clock.sleep(200);
  const start = await node.cost();
  await node.clock.sleep(60_000);
  const idle = await costOf(node, () => node.clock.sleep(minutes * 60_000));
  await node.stop();

  // Relists once per second, so that a sync needs no separate pod inspection.
  node.start({eventedPleg: false});
  await node.clock.sleep(60_000);
  const relisting = [];
  const syncing = [];
  // Alternates, since JIT compilation continues for minutes.
  for (let round = 0; round < minutes * 2; round += 1) {
    relisting.push(await costOf(node, () => node.clock.sleep(SYNCS * SYNC_EVERY_MS)));
    syncing.push(await costOf(node, () => syncRepeatedly(node)));
  }
  return {
    start: start.cpuSeconds / node.pods,
    rss: idle.rss,
    ...separateCosts(rates(idle), rates(sum(relisting)), rates(sum(syncing)), node.pods),
  };
}

/** Runs `act`, and returns its cost and its duration in seconds. */
async function costOf(node, action) {
  await node.cost();
  const startedAt = node.clock.now();
  await action();
  return {...(await node.cost()), seconds: (node.clock.now() - startedAt) / 1000};
}

async function syncRepeatedly(node) {
  for (let n = 0; n < SYNCS; n += 1) {
    node.syncAll();
    await node.clock.sleep(SYNC_EVERY_MS);
  }
}

function sum(costs) {
  const total = (key) => costs.reduce((all, cost) => all + cost[key], 0);
  return Object.fromEntries(COUNTED.map((key) => [key, total(key)]));
}

/** Divides the counters by the seconds. */
function rates(cost) {
  return Object.fromEntries(COUNTED.map((key) => [key, cost[key] / cost.seconds]));
}

/** Separates the cost of the idle kubelet, of a relist and of a pod sync. */
function separateCosts(idle, relisting, syncing, pods) {
  const relist = (relisting.cpuSeconds - idle.cpuSeconds) / (relisting.relists - idle.relists);
  const relistCost = relist * (syncing.relists - relisting.relists);
  const sync = (syncing.cpuSeconds - relisting.cpuSeconds - relistCost) / (syncing.syncs - relisting.syncs);
  return {idle: idle.cpuSeconds / pods, relist, sync};
}

function table(rows) {
  const header = [
    'pods',
    'idle, of a core',
    'idle, per pod and second',
    'relist',
    'pod sync',
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
  return lineCharts(`Cost of a kubelet's pods, ${CONTAINERS} containers each`, 'pods', [
    {title: 'idle', unit: 'µs of CPU per pod and second', points: points(({idle}) => 1e6 * idle)},
    {title: 'relist', unit: 'ms of CPU', points: points(({relist}) => 1e3 * relist)},
    {title: 'pod sync', unit: 'ms of CPU', points: points(({sync}) => 1e3 * sync)},
  ]);
}
