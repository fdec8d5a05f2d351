// Compares the time of short commands with crictl on PATH, and updates docs/performance.md.
// Usage: npm run bench [-- --rounds=40] [--only=version,…] [--node=PATH,…] [--program=FILE]
// Needs root, containerd and crictl. Also measures the executable if `npm run build:binary` has built it.
import {loadavg} from 'node:os';
import {parseArgs} from 'node:util';
import {measureInterleaved} from './startup/measure-interleaved.mjs';
import {findExecutable} from './startup/find-executable.mjs';
import {startupTable, writeSection} from './startup/report.mjs';
import {withRuntime} from './streaming/runtime.mjs';

const {values} = parseArgs({
  options: {
    rounds: {type: 'string', default: '40'},
    only: {type: 'string'},
    node: {type: 'string', default: process.execPath},
    program: {type: 'string', default: findExecutable()},
  },
});

/** Commands, and the maximum ratio of kcri's time and CPU time to crictl's on Node.js and as an executable. */
const COMMANDS = {
  version: {args: () => ['version'], maxRatio: 2.8, maxProgramRatio: 1.2},
  'ps -a': {args: () => ['ps', '-a'], maxRatio: 2.8, maxProgramRatio: 1.2},
  pods: {args: () => ['pods'], maxRatio: 2.8, maxProgramRatio: 1.2},
  images: {args: () => ['images'], maxRatio: 2.8, maxProgramRatio: 1.2},
  inspect: {args: (id) => ['inspect', id], maxRatio: 2.8, maxProgramRatio: 1.2},
  logs: {args: (id) => ['logs', id], maxRatio: 2.8, maxProgramRatio: 1.2},
  'exec --sync': {args: (id) => ['exec', '--sync', id, 'true'], maxRatio: 2.8, maxProgramRatio: 1.2},
  '--help': {args: () => ['--help'], maxRatio: 3, maxProgramRatio: Infinity},
  'ps --help': {args: () => ['ps', '--help'], maxRatio: 3, maxProgramRatio: Infinity},
  'ps --bogus': {args: () => ['ps', '--bogus'], exitCode: 1, maxRatio: 3, maxProgramRatio: Infinity},
  'an unknown command': {args: () => ['verson'], exitCode: 3, maxRatio: 3, maxProgramRatio: Infinity},
};

const chosen = values.only?.split(',') ?? Object.keys(COMMANDS);
await withRuntime(undefined, async ({container, env}) => {
  for (const node of values.node.split(',')) {
    const rows = chosen.map((name) => ({
      name,
      ...COMMANDS[name],
      ...measureInterleaved({
        node,
        program: values.program,
        args: COMMANDS[name].args(container),
        exitCode: COMMANDS[name].exitCode ?? 0,
        env,
        rounds: Number(values.rounds),
      }),
    }));
    const table = startupTable(node, rows, loadavg());
    process.stdout.write(table);
    // Only complete tables of this Node.js are published.
    if (values.only === undefined && node === process.execPath) writeSection('startup', table);
  }
});
