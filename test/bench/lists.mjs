// Measures lists of thousands of objects against crictl on PATH, on the fake runtime. Writes docs/performance.md.
// Usage: npm run bench:lists [-- --program=FILE] [--rounds=10] [--sizes=1000,10000,50000]
// Needs crictl. The executable is measured too when `npm run build:binary` has made it.
import {spawn, spawnSync} from 'node:child_process';
import {once} from 'node:events';
import {mkdtemp, rm} from 'node:fs/promises';
import {loadavg, tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {parseArgs} from 'node:util';
import {listsTable} from './lists/report.mjs';
import {medians, ratios, runOnce} from './startup/pairs.mjs';
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
/** What is compared to crictl. */
const KCRI = {
  kcri: [process.execPath, fileURLToPath(new URL('../../bin/kcri.js', import.meta.url))],
  ...(values.program !== undefined && {executable: [values.program]}),
};

/** Lists of any length, and what is asked once for each id, of which a command line holds so many. */
const LISTS = {'ps -a': ['ps', '-a'], pods: ['pods'], images: ['images']};
const MOST_INSPECTED = 1000;

/** The commands for a runtime with so many objects: how kcri's time and processor time may compare to crictl's. */
function commandsFor(size, env) {
  const lists = Object.entries(LISTS).map(([name, args]) => ({name, args, most: {wall: 0.8, cpu: 1}}));
  if (size > MOST_INSPECTED) return lists;
  const {stdout, error} = spawnSync('crictl', ['ps', '-a', '-q', '--no-trunc'], {env, encoding: 'utf8'});
  if (error !== undefined) throw error;
  const args = ['inspect', ...stdout.trim().split('\n')];
  return [...lists, {name: `inspect, ${args.length - 1} ids`, args, most: {wall: 0.5, cpu: Infinity}}];
}

/** What each takes; crictl's only when it can do it. */
function compare(args, env) {
  const commands = Object.entries({crictl: ['crictl'], ...KCRI}).map(([name, words]) => [
    name,
    [...words, ...args],
  ]);
  const fails = (command) => spawnSync(command[0], command.slice(1), {env, maxBuffer: 2 ** 30}).status !== 0;
  // This also fills the caches: of the disk's content, of compiled code, of answers.
  const able = commands.filter(([, command]) => !fails(command));
  const samples = Object.fromEntries(able.map(([name]) => [name, []]));
  for (const name of Object.keys(KCRI)) if (samples[name] === undefined) throw new Error(`${name} fails`);
  for (let round = 0; round < Number(values.rounds); round += 1)
    for (const [name, command] of able) samples[name].push(runOnce(command, env));
  const {crictl} = samples;
  const programs = Object.keys(KCRI).map((name) => ({
    name,
    taken: medians(samples[name]),
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
    // Reading certificates (that variable's) is nothing of kcri's, and none of crictl's work.
    const {NODE_EXTRA_CA_CERTS: _, ...rest} = process.env;
    const env = {...rest, CONTAINER_RUNTIME_ENDPOINT: `unix://${socket}`};
    return commandsFor(size, env).map(({name, args, most}) => ({size, name, most, ...compare(args, env)}));
  } finally {
    runtime.stdin.end();
    await rm(folder, {recursive: true});
  }
}

async function exited(child) {
  const [code] = await once(child, 'exit');
  throw new Error(`the runtime ended with ${code}`);
}

const rows = [];
for (const size of values.sizes.split(',')) rows.push(...(await measure(Number(size))));
const table = listsTable(rows, loadavg());
process.stdout.write(table);
// A part of the table is not what is told.
if (values.sizes === SIZES) writeSection('lists', table);
