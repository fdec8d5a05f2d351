// Measures exec and port-forward against crictl, when that is on PATH, and against raw sockets.
// Usage: npm run bench:streaming [-- --rounds=5] [--only=exec-stdout,…]      (needs root and containerd)
import {loadavg} from 'node:os';
import {parseArgs} from 'node:util';
import {ensureSecondContainerd} from '../../scripts/test-runtimes/second-containerd.mjs';
import {execStdin, execStdout} from './streaming/exec.mjs';
import {forwardAtOnce, forwardAtOnceQuick, forwardDownload, forwardInTurn} from './streaming/forward.mjs';
import {comparison, heading} from './streaming/report.mjs';
import {withRuntime} from './streaming/runtime.mjs';
import {toolsFor} from './streaming/tools.mjs';

/** What is measured, and what kcri is to reach beside crictl: at least this rate, at most this time or CPU. */
const MEASURES = {
  'exec-stdout': {run: execStdout, rate: 1, cpu: 0.8},
  'exec-stdin': {run: execStdin, rate: 0.9},
  'forward-download': {run: forwardDownload, rate: 1},
  'forward-in-turn': {run: forwardInTurn, time: 1},
  'forward-at-once': {run: forwardAtOnce, time: 0.4},
  'forward-at-once-quick': {run: forwardAtOnceQuick},
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
      // In turns, so that what else the machine does falls on all of them.
      const samples = new Map(tools.map((tool) => [tool.name, []]));
      for (let round = 0; round < rounds; round += 1)
        for (const tool of tools) samples.get(tool.name).push(await run(tool, runtime));
      process.stdout.write(comparison(name, samples, targets));
    }
  });
