// Measures how long kcri takes for small things, against crictl on PATH. Writes docs/performance.md.
// Usage: npm run bench [-- --rounds=40] [--only=version,…] [--node=PATH,…]      (needs root, containerd and crictl)
import {loadavg} from 'node:os';
import {parseArgs} from 'node:util';
import {pairs} from './startup/pairs.mjs';
import {startupTable, writeSection} from './startup/report.mjs';
import {withRuntime} from './streaming/runtime.mjs';

const {values} = parseArgs({
  options: {
    rounds: {type: 'string', default: '40'},
    only: {type: 'string'},
    node: {type: 'string', default: process.execPath},
  },
});

/** What is typed, and how kcri's time and CPU may compare to crictl's, and its memory. */
const COMMANDS = {
  version: {args: () => ['version'], most: 2.8},
  'ps -a': {args: () => ['ps', '-a'], most: 2.8},
  pods: {args: () => ['pods'], most: 2.8},
  images: {args: () => ['images'], most: 2.8},
  inspect: {args: (id) => ['inspect', id], most: 2.8},
  'exec --sync': {args: (id) => ['exec', '--sync', id, 'true'], most: 2.8},
  '--help': {args: () => ['--help'], most: 3},
  'ps --help': {args: () => ['ps', '--help'], most: 3},
  'ps --bogus': {args: () => ['ps', '--bogus'], most: 3},
  'an unknown command': {args: () => ['verson'], most: 3},
};

const chosen = values.only?.split(',') ?? Object.keys(COMMANDS);
await withRuntime(undefined, async ({container, env: {NODE_EXTRA_CA_CERTS: _, ...env}}) => {
  // Reading certificates (that variable's) is nothing of kcri's, and none of crictl's work.
  for (const node of values.node.split(',')) {
    const rows = chosen.map((name) => ({
      name,
      most: COMMANDS[name].most,
      ...pairs({node, args: COMMANDS[name].args(container), env, rounds: Number(values.rounds)}),
    }));
    const table = startupTable(node, rows, loadavg());
    process.stdout.write(table);
    // A part of the table, or that of another Node.js, is not what is told.
    if (values.only === undefined && node === process.execPath) writeSection('startup', table);
  }
});
