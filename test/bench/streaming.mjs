// Compares exec and port-forward with raw sockets, and with crictl if that is on PATH.
// Usage: npm run bench:streaming [-- --rounds=5] [--only=exec-stdout,…]      (needs root and containerd)
import {loadavg} from 'node:os';
import {parseArgs} from 'node:util';
import {ensureSecondContainerd} from '../../scripts/test-runtimes/second-containerd.mjs';
import {execBoth, execStdin, execStdout} from './streaming/exec.mjs';
import {
  forwardConcurrent,
  forwardConcurrentQuick,
  forwardDownload,
  forwardSequential,
} from './streaming/forward.mjs';
import {comparison, heading} from './streaming/report.mjs';
import {withRuntime} from './streaming/runtime.mjs';
import {toolsFor} from './streaming/tools.mjs';

/** Measurements, and kcri's targets relative to crictl: the minimum rate, or the maximum time or CPU time. */
const MEASURES = {
  'exec-stdout': {run: execStdout, rate: 1, cpu: 0.8},
  'exec-stdin': {run: execStdin, rate: 0.9},
  'exec-both': {run: execBoth, rate: 1, cpu: 1},
  'forward-download': {run: forwardDownload, rate: 1},
  'forward-in-turn': {run: forwardSequential, time: 1},
  'forward-at-once': {run: forwardConcurrent, time: 0.4},
  'forward-at-once-quick': {run: forwardConcurrentQuick},
};

const {values} = parseArgs({options: {rounds: {type: 'string', default: '5'}, only: {type: 'string'}}});
const rounds = Number(values.rounds);
const chosen = values.only?.split(',') ?? Object.keys(MEASURES);
const second = await ensureSecondContainerd((step) => process.stderr.write(`${step}\n`));

for (const folder of [undefined, ...(second === undefined ? [] : [second.folder])])
  await withRuntime(folder, async (runtime) => {
    const tools = await toolsFor(runtime);
    process.stdout.write(heading(runtime.version, tools, loadavg()));
    for (const name of chosen) {
      const {run, ...targets} = MEASURES[name];
      // Alternates the tools, so that other load affects all of them.
      const samples = new Map(tools.map((tool) => [tool.name, []]));
      for (let round = 0; round < rounds; round += 1)
        for (const tool of tools) samples.get(tool.name).push(await run(tool, runtime));
      process.stdout.write(comparison(name, samples, targets));
    }
  });
