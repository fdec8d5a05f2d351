// Measures how long kcri takes for small things, against crictl on PATH. Writes docs/performance.md.
// Usage: npm run bench [-- --rounds=40] [--only=version,…] [--node=PATH,…] [--program=FILE]
// Needs root, containerd and crictl. The executable is measured too when `npm run build:binary` has made it.
import {loadavg} from 'node:os';
import {parseArgs} from 'node:util';
import {pairs} from './startup/pairs.mjs';
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

/** What is typed, and how kcri's time and CPU may compare to crictl's on Node.js, and as an executable. */
const COMMANDS = {
  version: {args: () => ['version'], most: 2.8, mostOfProgram: 1.2},
  'ps -a': {args: () => ['ps', '-a'], most: 2.8, mostOfProgram: 1.2},
  pods: {args: () => ['pods'], most: 2.8, mostOfProgram: 1.2},
  images: {args: () => ['images'], most: 2.8, mostOfProgram: 1.2},
  inspect: {args: (id) => ['inspect', id], most: 2.8, mostOfProgram: 1.2},
  'exec --sync': {args: (id) => ['exec', '--sync', id, 'true'], most: 2.8, mostOfProgram: 1.2},
  '--help': {args: () => ['--help'], most: 3, mostOfProgram: Infinity},
  'ps --help': {args: () => ['ps', '--help'], most: 3, mostOfProgram: Infinity},
  'ps --bogus': {args: () => ['ps', '--bogus'], most: 3, mostOfProgram: Infinity},
  'an unknown command': {args: () => ['verson'], most: 3, mostOfProgram: Infinity},
};

const chosen = values.only?.split(',') ?? Object.keys(COMMANDS);
await withRuntime(undefined, async ({container, env: {NODE_EXTRA_CA_CERTS: _, ...env}}) => {
  // Reading certificates (that variable's) is nothing of kcri's, and none of crictl's work.
  for (const node of values.node.split(',')) {
    const rows = chosen.map((name) => ({
      name,
      ...COMMANDS[name],
      ...pairs({
        node,
        program: values.program,
        args: COMMANDS[name].args(container),
        env,
        rounds: Number(values.rounds),
      }),
    }));
    const table = startupTable(node, rows, loadavg());
    process.stdout.write(table);
    // A part of the table, or that of another Node.js, is not what is told.
    if (values.only === undefined && node === process.execPath) writeSection('startup', table);
  }
});
