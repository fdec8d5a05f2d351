// Measures the CPU time that the CPU manager takes to decide about one container on a machine with 128 CPUs and 8 NUMA nodes, of which some
// CPUs are taken. Exits with 1 if a decision takes longer than LIMIT_MS.
// Usage: npm run bench:cpu-assignment [-- --rounds=200]
import {parseArgs} from 'node:util';
import {cpuUnits} from '../../dist/kubelet/managers/cpu/assignment/cpu-units.js';
import {cpuHints} from '../../dist/kubelet/managers/cpu/policy/cpu-hints.js';
import {takeDistributed} from '../../dist/kubelet/managers/cpu/assignment/take-distributed.js';
import {takePacked} from '../../dist/kubelet/managers/cpu/assignment/take-packed.js';
import {bitSet} from '../../dist/kubelet/resources/bit-set.js';

const LIMIT_MS = 5;
const CPUS = 128;
const CORES = CPUS / 2;
const NUMA_NODES = 8;

const {values} = parseArgs({options: {rounds: {type: 'string', default: '200'}}});
const rounds = Number(values.rounds);

/** Two sockets with four NUMA nodes each; CPU n and n + 64 are siblings. */
const locations = Array.from({length: CPUS}, (_, cpu) => {
  const core = cpu % CORES;
  const numaNode = Math.floor(core / (CORES / NUMA_NODES));
  return [cpu, {core, numaNode, socket: Math.floor(numaNode / 4), uncoreCache: numaNode}];
});
const units = cpuUnits({
  cpuCount: CPUS,
  coreCount: CORES,
  socketCount: 2,
  numaNodeCount: NUMA_NODES,
  uncoreCacheCount: NUMA_NODES,
  cpus: new Map(locations),
});
/** Every seventh CPU is taken. */
const available = bitSet(locations.map(([cpu]) => cpu).filter((cpu) => cpu % 7 !== 0));

const packed = {available, spread: false, alignByUncoreCache: true};
const DECISIONS = {
  'packed, 1 CPU': () => takePacked(units, {...packed, count: 1}),
  'packed, 61 CPUs': () => takePacked(units, {...packed, count: 61}),
  'distributed, 61 CPUs': () => takeDistributed(units, {...packed, count: 61, groupSize: 1}),
  'distributed, 90 CPUs in cores': () => takeDistributed(units, {...packed, count: 90, groupSize: 2}),
  'hints, 40 CPUs': () => cpuHints(units, {available, reusable: 0n, count: 40, alignBySocket: true}),
};

let slowest = 0;
for (const [name, decide] of Object.entries(DECISIONS)) {
  for (let round = 0; round < 20; round++) decide(); // until it is compiled
  const before = process.cpuUsage();
  for (let round = 0; round < rounds; round++) decide();
  const {user, system} = process.cpuUsage(before);
  const ms = (user + system) / 1000 / rounds;
  slowest = Math.max(slowest, ms);
  process.stdout.write(`${name.padEnd(32)} ${ms.toFixed(3)} ms\n`);
}
if (slowest > LIMIT_MS) {
  process.stderr.write(`a decision takes ${slowest.toFixed(1)} ms, more than ${LIMIT_MS} ms\n`);
  process.exitCode = 1;
}
