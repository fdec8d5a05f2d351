// Compares lists of thousands of objects with crictl on PATH, on the fake runtime, and updates docs/performance.md.
// Usage: npm run bench:lists [-- --program=FILE] [--rounds=10] [--sizes=1000,10000,50000]
// Needs crictl. Also measures the executable if `npm run build:binary` has built it.
import {spawn, spawnSync} from 'node:child_process';
import {once} from 'node:events';
import {mkdtemp, rm} from 'node:fs/promises';
import {loadavg, tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {parseArgs} from 'node:util';
import {listsTable} from './lists/report.mjs';
import {medians, ratios, runOnce} from './startup/measure-interleaved.mjs';
import {findExecutable} from './startup/find-executable.mjs';
import {writeSection} from './startup/report.mjs';

const RUNTIME = fileURLToPath(new URL('lists/runtime.mjs', import.meta.url));
const SIZES = '1000,10000,50000';
const {values} = parseArgs({
  options: {
    program: {type: 'string', default: findExecutable()},
    rounds: {type: 'string', default: '10'},
    sizes: {type: 'string', default: SIZES},
  },
});
/** Programs compared with crictl. */
const KCRI = {
  kcri: [process.execPath, fileURLToPath(new URL('../../bin/kcri.js', import.meta.url))],
  ...(values.program !== undefined && {executable: [values.program]}),
};

/** List commands of any length, and the maximum number of IDs on a command line of inspect. */
const LISTS = {'ps -a': ['ps', '-a'], pods: ['pods'], images: ['images']};
const MAX_INSPECTED = 1000;

/** Returns the commands for a number of objects, with the maximum ratios of kcri's time and CPU time to crictl's. */
function commandsFor(size, env) {
  const lists = Object.entries(LISTS).map(([name, args]) => ({name, args, maxRatios: {wall: 0.8, cpu: 1}}));
  if (size > MAX_INSPECTED) return lists;
  const {stdout, error} = spawnSync('crictl', ['ps', '-a', '-q', '--no-trunc'], {env, encoding: 'utf8'});
  if (error !== undefined) throw error;
  const args = ['inspect', ...stdout.trim().split('\n')];
  return [...lists, {name: `inspect, ${args.length - 1} ids`, args, maxRatios: {wall: 0.5, cpu: Infinity}}];
}

/** Measures a command with all programs. crictl is skipped if it fails. */
function compare(args, env) {
  const commands = Object.entries({crictl: ['crictl'], ...KCRI}).map(([name, words]) => [
    name,
    [...words, ...args],
  ]);
  const fails = (command) => spawnSync(command[0], command.slice(1), {env, maxBuffer: 2 ** 30}).status !== 0;
  // The first run also fills the caches of the disk, of compiled code and of responses.
  const successful = commands.filter(([, command]) => !fails(command));
  const samples = Object.fromEntries(successful.map(([name]) => [name, []]));
  for (const name of Object.keys(KCRI)) if (samples[name] === undefined) throw new Error(`${name} fails`);
  for (let round = 0; round < Number(values.rounds); round += 1)
    for (const [name, command] of successful) samples[name].push(runOnce(command, env));
  const {crictl} = samples;
  const programs = Object.keys(KCRI).map((name) => ({
    name,
    result: medians(samples[name]),
    ratio: crictl && ratios(samples[name], crictl),
  }));
  return {crictl: crictl && medians(crictl), programs};
}

async function measure(size) {
  const folder = await mkdtemp(join(tmpdir(), 'kcri-lists-'));
  const socket = join(folder, 'cri.sock');
  const runtime = spawn(process.execPath, [RUNTIME, socket, String(size)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  try {
    await Promise.race([once(runtime.stdout, 'data'), exited(runtime)]);
    // Certificates of this variable are read by Node.js only, and would count against kcri.
    const {NODE_EXTRA_CA_CERTS: _, ...rest} = process.env;
    const env = {...rest, CONTAINER_RUNTIME_ENDPOINT: `unix://${socket}`};
    return commandsFor(size, env).map(({name, args, maxRatios}) => ({
      size,
      name,
      maxRatios,
      ...compare(args, env),
    }));
  } finally {
    runtime.stdin.end();
    await rm(folder, {recursive: true});
  }
}

async function exited(child) {
  const [code] = await once(child, 'exit');
  throw new Error(`the runtime exited with ${code}`);
}

const rows = [];
for (const size of values.sizes.split(',')) rows.push(...(await measure(Number(size))));
const table = listsTable(rows, loadavg());
process.stdout.write(table);
// Only complete tables are published.
if (values.sizes === SIZES) writeSection('lists', table);
