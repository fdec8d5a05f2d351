// Measures what `kcri record` adds to calls, on a runtime that answers from memory: latency, throughput, and processor time
// of the recorder, which does not depend on the load of the machine. bench:record-containerd measures on a real runtime.
// Usage: npm run bench:record [-- --rounds=10 --calls=1000 --program=FILE]
import {mkdtemp, rm} from 'node:fs/promises';
import {loadavg, tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {setTimeout as delay} from 'node:timers/promises';
import {parseArgs} from 'node:util';
import {Client, credentials} from '@grpc/grpc-js';
import {median} from './median.mjs';
import {cpuMs, KCRI, startProgram, startRecorder, stopProgram} from './record/recorders.mjs';

const RUNTIME = fileURLToPath(new URL('lists/runtime.mjs', import.meta.url));
const {values} = parseArgs({
  options: {
    rounds: {type: 'string', default: '10'},
    calls: {type: 'string', default: '1000'},
    program: {type: 'string', default: KCRI},
  },
});
const calls = Number(values.calls);
/** Objects of the runtime: a list of them is about 100 kB. */
const OBJECTS = 200;
const CONCURRENT = 16;
/** Pause between calls that do not follow one another at once, in ms. */
const PAUSE_MS = 20;
const METHODS = {
  Version: '/runtime.v1.RuntimeService/Version',
  ListContainers: '/runtime.v1.RuntimeService/ListContainers',
};

const identity = (bytes) => bytes;

function connectTo(socket) {
  return new Client(`unix:${socket}`, credentials.createInsecure(), {
    'grpc.use_local_subchannel_pool': 1,
    'grpc.max_receive_message_length': -1,
  });
}

const call = (client, path) =>
  new Promise((resolve, reject) => {
    client.makeUnaryRequest(path, identity, identity, Buffer.alloc(0), (error) => {
      if (error === null) resolve();
      else reject(error);
    });
  });

/** Returns the median latency of calls one after the other, in ms. */
async function latency(client, path) {
  const times = [];
  for (let index = 0; index < calls; index += 1) {
    const startedAt = performance.now();
    await call(client, path);
    times.push(performance.now() - startedAt);
  }
  return median(times);
}

/** Returns the median latency of calls with pauses, as a kubelet makes them, in ms. */
async function pacedLatency(client, path) {
  const times = [];
  for (let index = 0; index < calls / 10; index += 1) {
    await delay(PAUSE_MS);
    const startedAt = performance.now();
    await call(client, path);
    times.push(performance.now() - startedAt);
  }
  return median(times);
}

/** Returns the calls per second with several calls at a time. */
async function throughput(client, path) {
  const startedAt = performance.now();
  const one = async () => {
    for (let index = 0; index < calls / CONCURRENT; index += 1) await call(client, path);
  };
  await Promise.all(Array.from({length: CONCURRENT}, one));
  return (1000 * calls) / (performance.now() - startedAt);
}

const folder = await mkdtemp(join(tmpdir(), 'kcri-record-bench-'));
const direct = join(folder, 'cri.sock');
const recorded = join(folder, 'record.sock');
const counted = join(folder, 'summary.sock');
const record = (listen, ...flags) => startRecorder({program: values.program, target: direct, listen, flags});
const runtime = await startProgram([process.execPath, RUNTIME, direct, String(OBJECTS)], 'ready');
const recorders = {
  record: await record(recorded, `--file=${join(folder, 'calls.jsonl')}`, '--max-message=16Mi'),
  summary: await record(counted, '--summary'),
};
const clients = {direct: connectTo(direct), record: connectTo(recorded), summary: connectTo(counted)};
try {
  process.stdout.write(`load ${loadavg()[0].toFixed(1)}; ${values.rounds} rounds of ${calls} calls\n`);
  for (const [name, path] of Object.entries(METHODS)) {
    const results = Object.fromEntries(
      Object.keys(clients).map((way) => [way, {paced: [], latency: [], throughput: []}]),
    );
    for (const client of Object.values(clients)) await latency(client, path);
    const cpuBefore = Object.fromEntries(
      Object.entries(recorders).map(([way, child]) => [way, cpuMs(child)]),
    );
    for (let round = 0; round < Number(values.rounds); round += 1)
      for (const [way, client] of Object.entries(clients)) {
        results[way].paced.push(await pacedLatency(client, path));
        results[way].latency.push(await latency(client, path));
        results[way].throughput.push(await throughput(client, path));
      }
    const base = results.direct;
    const addedTo = (name, times) => median(times.map((each, index) => each - base[name][index])).toFixed(3);
    for (const [way, {paced, latency: latencies, throughput: rates}] of Object.entries(results)) {
      const lost = median(rates.map((each, index) => 1 - each / base.throughput[index]));
      const used = recorders[way] === undefined ? 0 : cpuMs(recorders[way]) - cpuBefore[way];
      const perCall = used / (2.1 * calls * Number(values.rounds));
      process.stdout.write(
        `${name} ${way}: median ${median(paced).toFixed(3)} ms with pauses (+${addedTo('paced', paced)} ms), ` +
          `${median(latencies).toFixed(3)} ms without (+${addedTo('latency', latencies)} ms), ` +
          `${median(rates).toFixed(0)} calls/s (${(-100 * lost).toFixed(1)} %), ` +
          `${perCall.toFixed(3)} ms of processor time per call\n`,
      );
    }
  }
} finally {
  for (const client of Object.values(clients)) client.close();
  for (const child of [...Object.values(recorders), runtime]) await stopProgram(child);
  await rm(folder, {recursive: true});
}
