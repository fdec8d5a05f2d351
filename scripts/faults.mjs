// Runs the fault campaign: plays the golden cases with each fault of each RPC and with a kubelet that is killed in each
// call, the takeover of a node and the allocation of CPUs and devices by a kubelet that is killed in each step, and pods with
// CSI volumes whose driver fails or whose kubelet is killed, and checks what docs/reliability.md promises. Needs root.
// Usage: npm run faults [-- --every=8] [--seed=N] [--jobs=2] [--write] [--case=NAME,NAME] [--only=TEXT]
//                        [--minutes=N] [--log=FILE] [--point=TEXT [--times=N]]
//   --every=N   plays one point in N, chosen by the seed, by default by the date; 1 plays all
//   --write     updates the results in docs/reliability.md
//   --case, --only   play some cases, or the points whose description contains a text, such as "kill after"
//   --minutes=N  ends after this time with the points that were played; they are a random selection
//   --log=FILE   appends each result to a file of JSON lines; points with volumes that are in it are not played again
//   --point=TEXT  plays only the point with volumes that has this description, N times, with --case='volumes …'
import {fork} from 'node:child_process';
import {appendFileSync, existsSync, readdirSync, readFileSync} from 'node:fs';
import {cpus} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {parseArgs} from 'node:util';
import {buildCompiledProgram, buildTestPrograms} from './build-test-programs.mjs';
import {summaryTable, writeResults} from './faults/report.mjs';

const {values} = parseArgs({
  options: {
    case: {type: 'string'},
    only: {type: 'string'},
    every: {type: 'string', default: '8'},
    seed: {type: 'string', default: new Date().toISOString().slice(0, 10).replaceAll('-', '')},
    jobs: {type: 'string', default: String(cpus().length)},
    minutes: {type: 'string', default: 'Infinity'},
    log: {type: 'string'},
    point: {type: 'string'},
    times: {type: 'string', default: '1'},
    write: {type: 'boolean', default: false},
  },
});
/** Starts processes with the code that V8 has compiled in earlier ones. */
const RUNNER = fileURLToPath(new URL('faults/run-compiled.cjs', import.meta.url));
const GOLDEN = fileURLToPath(new URL('../test/golden/', import.meta.url));

/** Cases of pods with CSI volumes, by what happens after a kill (test/faults/volumes). */
const VOLUME_CASES = ['restart', 'deleted', 'driver', 'reboot', 'lost'].map(
  (aftermath) => `volumes ${aftermath}`,
);

/** Returns all cases, the longest first. */
function listCases() {
  const names = [
    ...readdirSync(join(GOLDEN, 'traces')),
    ...readdirSync(join(GOLDEN, 'derived')).map((name) => `../derived/${name}`),
  ];
  const settle = (name) =>
    Number(/"settle": (\d+)/.exec(readFileSync(join(GOLDEN, 'traces', name, 'pod.yaml'), 'utf8'))?.[1] ?? 10);
  return ['takeover', 'allocation', ...VOLUME_CASES, ...names.toSorted((a, b) => settle(b) - settle(a))];
}

const {log} = values;
/** Descriptions of the points of each case that were played earlier. */
const played = new Map();
for (const line of log !== undefined && existsSync(log) ? readFileSync(log, 'utf8').split('\n') : []) {
  if (line === '') continue;
  const {caseName, point} = JSON.parse(line);
  played.set(caseName, [...(played.get(caseName) ?? []), point]);
}

const queue = listCases().filter((name) => values.case?.split(',').includes(name) ?? true);
const [shard] = await buildTestPrograms('faults', [
  'faults/shard.ts',
  'faults/kubelet-process.ts',
  'faults/takeover/takeover-process.ts',
  'faults/allocations/allocation-process.ts',
]);
await buildCompiledProgram('faults', 'faults/volumes/volume-process.ts');
const reports = [];
const total = queue.length;
let finished = 0;
const startedAt = Date.now();
const descriptors = await Promise.all(Array.from({length: Number(values.jobs)}, runShard));
for (const extra of descriptors)
  if (extra > 0)
    reports.push({
      caseName: 'all',
      kind: 'none',
      point: 'at the end',
      violations: [`a process has ${extra} more open files`],
    });
const minutes = (Date.now() - startedAt) / 60_000;
const broken = reports.filter(({violations}) => violations.length > 0);
for (const {caseName, point, violations} of broken)
  process.stdout.write(`FAULT ${caseName}: ${point}\n${violations.map((text) => `  ${text}\n`).join('')}`);
const table = summaryTable({reports, cases: total, minutes, seed: values.seed, every: values.every});
process.stdout.write(`${table}\n`);
if (values.write) writeResults(table);
process.exitCode = broken.length === 0 ? 0 : 1;

/** Returns the time that is left for points; a very long one without a limit, as JSON has no Infinity. */
function remainingMinutes() {
  return Math.min(Number(values.minutes) - (Date.now() - startedAt) / 60_000, Number.MAX_SAFE_INTEGER);
}

/** Plays cases of the queue in a process until none is left. Resolves with the number of files it left open. */
async function runShard() {
  const child = fork(shard);
  return await new Promise((resolve, reject) => {
    let playing;
    child.on('exit', (code, signal) => {
      reject(new Error(`the process of "${playing}" ended with ${code ?? signal}`));
    });
    child.on('message', (message) => {
      if (message.descriptors !== undefined) resolve(message.descriptors);
      else if (message === 'done') {
        if (playing !== undefined) {
          finished += 1;
          process.stderr.write(`${finished}/${total} ${playing}: ${reports.length} points\n`);
        }
        playing = queue.shift();
        const {every, seed, only, point, times} = values;
        child.send(
          playing === undefined
            ? 'end'
            : {
                ...{
                  caseName: playing,
                  every: Number(every),
                  seed: Number(seed),
                  only,
                  point,
                  times: Number(times),
                },
                ...{runner: RUNNER, minutes: remainingMinutes(), played: played.get(playing)},
              },
        );
      } else {
        reports.push(message);
        if (log !== undefined) appendFileSync(log, `${JSON.stringify(message)}\n`);
        for (const text of message.violations)
          process.stderr.write(`FAULT ${message.caseName}: ${message.point}: ${text}\n`);
      }
    });
  });
}
