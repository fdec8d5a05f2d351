// Measures what `kcri record` adds on a real containerd: the latency of the calls that a kubelet repeats, reads per second, and pods
// that are started and removed per minute. All ways to the runtime take turns.
// Usage: npm run bench:record-containerd [-- --rounds=5] [--calls=100] [--program=FILE]… [--bare] [--only=latency,reads,pods]
//        [--root-dir=DIR]      (needs root and containerd; 1 minute a round)
// A program is another kcri: bin/kcri.js of a checkout, or an executable. --bare adds a relay that reads nothing. --root-dir
// names the root directory of a private runtime that is up and has the image.
import {execFile} from 'node:child_process';
import {mkdtemp, rm} from 'node:fs/promises';
import {loadavg, tmpdir} from 'node:os';
import {basename, dirname, join} from 'node:path';
import {setTimeout as delay} from 'node:timers/promises';
import {parseArgs, promisify} from 'node:util';
import {ensureSecondContainerd} from '../../scripts/test-runtimes/second-containerd.mjs';
import {connect} from '../../dist/cri/index.js';
import {removePod, removePods, startPod} from './kubelet/bare-pods.mjs';
import {withNode} from './kubelet/node.mjs';
import {median} from './median.mjs';
import {kubeletCalls} from './record/kubelet-calls.mjs';

import {
  cpuMs,
  firstThreadCpuMs,
  KCRI,
  startBareRelay,
  startRecorder,
  stopProgram,
} from './record/recorders.mjs';

/** Pods that run while calls are measured. */
const RUNNING_PODS = 20;
/** Pods that are started and removed in a turn, all at once. */
const STARTED_PODS = 4;
const READS_AT_ONCE = [4, 16];
/** Reads in a turn of each throughput, per measured call of a kind. */
const READS_PER_CALL = 3;
/** Turns of the throughputs in a round: on a busy machine, many short ones say more than few long ones. */
const TURNS = 4;
/** Pause before each call of the second measurement of latencies, in ms. */
const PAUSE_MS = 20;

const {values} = parseArgs({
  options: {
    rounds: {type: 'string', default: '5'},
    calls: {type: 'string', default: '100'},
    program: {type: 'string', multiple: true, default: [KCRI]},
    bare: {type: 'boolean', default: false},
    only: {type: 'string', default: 'latency,reads,pods'},
    'root-dir': {type: 'string'},
  },
});
const rounds = Number(values.rounds);
const calls = Number(values.calls);
const print = (line) => process.stdout.write(`${line}\n`);

if (values['root-dir'] === undefined) {
  const second = await ensureSecondContainerd((step) => process.stderr.write(`${step}\n`));
  await withNode(second ?? {}, ({rootDir}) => measureOn(rootDir));
} else await measureOn(values['root-dir']);

/** Measures on the private runtime of a root directory. */
async function measureOn(rootDir) {
  const args = [KCRI, '--root-dir', rootDir, 'runtime', 'status', '-o', 'json'];
  const {endpoint, version, pid} = JSON.parse((await promisify(execFile)(process.execPath, args)).stdout);
  const folder = await mkdtemp(join(tmpdir(), 'kcri-record-bench-'));
  const ways = {};
  try {
    ways.direct = {connection: connect(endpoint)};
    await addRecorders(ways, endpoint.replace('unix://', ''), folder);
    const pods = [];
    for (let index = 0; index < RUNNING_PODS; index += 1)
      pods.push(await startPod(ways.direct.connection, `running-${index}`, folder));
    const measured = {ways, folder, runtimePid: pid, calls: kubeletCalls(pods[0])};
    print(
      `containerd ${version}; load ${loadavg()[0].toFixed(1)}; ${rounds} rounds of ${calls} calls of each kind`,
    );
    const measures = {latency: measureLatency, reads: measureReads, pods: measurePods};
    for (const name of values.only.split(',')) await measures[name](measured);
    print(`load ${loadavg()[0].toFixed(1)}`);
  } finally {
    if (ways.direct !== undefined) await removePods(ways.direct.connection);
    for (const {connection} of Object.values(ways)) connection.close();
    for (const {child} of Object.values(ways)) if (child !== undefined) await stopProgram(child);
    await rm(folder, {recursive: true});
  }
}

/** Starts the recorders and adds them to the ways to the runtime. */
async function addRecorders(ways, target, folder) {
  const add = async (name, start) => {
    const listen = join(folder, `${Object.keys(ways).length}.sock`);
    ways[name] = {child: await start(listen), connection: connect(`unix://${listen}`)};
  };
  if (values.bare) await add('bare relay', (listen) => startBareRelay({target, listen}));
  for (const program of values.program) {
    const suffix = program === KCRI ? '' : ` (${basename(dirname(dirname(program)))}/${basename(program)})`;
    for (const [name, flags] of Object.entries({
      record: (listen) => [`--file=${listen}.jsonl`, '--max-message=16Mi'],
      summary: () => ['--summary'],
    }))
      await add(`${name}${suffix}`, (listen) =>
        startRecorder({program, target, listen, flags: flags(listen)}),
      );
  }
}

/** Returns the items, beginning with another one for each number. */
function rotated(items, number) {
  const start = number % items.length;
  return [...items.slice(start), ...items.slice(0, start)];
}

/** Measures the latencies of calls: each is made on all ways before the next. */
async function measureLatency({ways, calls: kinds}) {
  for (const [heading, count, pauseMs] of [
    ['one after the other', calls * rounds, 0],
    [`with pauses of ${PAUSE_MS} ms`, Math.ceil((calls * rounds) / 5), PAUSE_MS],
  ]) {
    const times = {};
    for (let index = 0; index < count; index += 1)
      for (const [kind, call] of Object.entries(kinds))
        for (const [way, {connection}] of rotated(Object.entries(ways), index)) {
          if (pauseMs > 0) await delay(pauseMs);
          const startedAt = performance.now();
          await call(connection);
          ((times[kind] ??= {})[way] ??= []).push(performance.now() - startedAt);
        }
    print(`\nmedian latency of calls ${heading}, ms, and what is added to it; ${count} of each kind and way`);
    printTable([
      ['', ...Object.keys(ways)],
      ...Object.entries(times).map(([kind, ofKind]) => [kind, ...latencies(ofKind)]),
    ]);
  }
}

function latencies({direct, ...others}) {
  const base = median(direct);
  const added = Object.values(others)
    .map((each) => (median(each) - base).toFixed(2))
    .map((text) => (text.startsWith('-') ? text : `+${text}`));
  return [base.toFixed(2), ...added];
}

/** Measures the reads per second, and the processor time of a read. */
async function measureReads({ways, calls: kinds, runtimePid}) {
  const list = Object.values(kinds);
  const count = calls * READS_PER_CALL;
  for (const atOnce of READS_AT_ONCE) {
    const turn = async ({connection, child}) => {
      const before = usedMs(runtimePid, child);
      const seconds = await inParallel(count, atOnce, (index) => list[index % list.length](connection));
      const after = usedMs(runtimePid, child);
      const used = Object.entries(after).map(([name, ms]) => [name, (ms - before[name]) / count]);
      return {rate: count / seconds, ...Object.fromEntries(used)};
    };
    print(`\nreads per second, ${atOnce} at a time, and processor time of a read, ms`);
    await compare(ways, turn, ['client', 'runtime', 'recorder', 'its first thread']);
  }
}

/** Returns the processor time that all processes of a call have used, in ms. */
function usedMs(runtimePid, child) {
  const {user, system} = process.cpuUsage();
  return {
    client: (user + system) / 1000,
    runtime: cpuMs({pid: runtimePid}),
    recorder: child === undefined ? 0 : cpuMs(child),
    'its first thread': child === undefined ? 0 : firstThreadCpuMs(child),
  };
}

/** Measures the pods that are started, stopped and removed per minute. */
async function measurePods({ways, folder}) {
  let started = 0;
  const turn = async ({connection, child}) => {
    const before = child === undefined ? 0 : cpuMs(child);
    const seconds = await inParallel(STARTED_PODS, STARTED_PODS, async () => {
      started += 1;
      await removePod(connection, await startPod(connection, `started-${started}`, folder));
    });
    const used = child === undefined ? 0 : cpuMs(child) - before;
    return {rate: (60 * STARTED_PODS) / seconds, recorder: used / STARTED_PODS};
  };
  print(
    `\npods started, stopped and removed per minute, ${STARTED_PODS} at a time, and processor time of a pod, ms`,
  );
  await compare(ways, turn, ['recorder']);
}

/** Lets the ways take turns, and prints the median rate of each, its part of the direct rate of the same round, and other results. */
async function compare(ways, turn, others) {
  const results = Object.fromEntries(Object.keys(ways).map((way) => [way, []]));
  // The first turn of each is not counted.
  for (let round = -1; round < TURNS * rounds; round += 1)
    for (const [way, parts] of rotated(Object.entries(ways), round + 1)) {
      const result = await turn(parts);
      if (round >= 0) results[way].push(result);
    }
  printTable([
    ['', 'rate', '% of direct', 'in most rounds', ...others],
    ...Object.entries(results).map(([way, of]) => {
      const parts = of.map(({rate}, round) => (100 * rate) / results.direct[round].rate);
      const sorted = parts.toSorted((a, b) => a - b);
      const range = [0.1, 0.9]
        .map((part) => sorted[Math.floor(part * sorted.length)].toFixed(0))
        .join(' to ');
      const medians = others.map((name) => median(of.map((each) => each[name])).toFixed(3));
      return [way, median(of.map(({rate}) => rate)).toFixed(0), median(parts).toFixed(1), range, ...medians];
    }),
  ]);
}

function printTable(rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  for (const row of rows)
    print(
      row
        .map((text, column) => (column === 0 ? text.padEnd(widths[0]) : text.padStart(widths[column])))
        .join('  '),
    );
}

/** Does something `count` times, several at a time. Returns the seconds that it took. */
async function inParallel(count, atOnce, act) {
  let next = 0;
  const startedAt = performance.now();
  const work = async () => {
    while (next < count) {
      next += 1;
      await act(next);
    }
  };
  await Promise.all(Array.from({length: atOnce}, work));
  return (performance.now() - startedAt) / 1000;
}
