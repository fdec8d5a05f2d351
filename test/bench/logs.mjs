// Compares `kcri logs` with cat, and with crictl if that is on PATH.
// Usage: npm run bench:logs [-- --megabytes=1000] [--rounds=5] [--only=whole,tail,…]
import {spawn, spawnSync} from 'node:child_process';
import {closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync} from 'node:fs';
import {loadavg, tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {parseArgs} from 'node:util';
import {compileFakes} from '../../scripts/compile-fakes.mjs';
import {median} from './median.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const {values} = parseArgs({
  options: {
    megabytes: {type: 'string', default: '1000'},
    rounds: {type: 'string', default: '5'},
    only: {type: 'string'},
  },
});

/**
 * Measurements: the log, the flags, and the maximum ratio to crictl's time, or to that of an empty run (`version`).
 */
const MEASURES = {
  whole: {log: 'plain', args: [], atMost: 1},
  timestamps: {log: 'plain', args: ['-t'], atMost: 1},
  'both streams': {log: 'mixed', args: [], atMost: 1},
  'json-file': {log: 'json', args: [], atMost: 1},
  'since, no hit': {log: 'plain', args: ['--since', '2040-01-01'], atMost: 1},
  'tail 10': {log: 'plain', args: ['--tail', '10'], atMostEmpty: 2},
};

const time = (n) => {
  const ms = Date.parse('2026-11-20T10:00:00Z') + Math.floor(n / 10);
  return `${new Date(ms).toISOString().slice(0, 23)}${String((n * 7919) % 1_000_000).padStart(6, '0')}`;
};
const text = (n) => `${n} GET /api/v1/items/${n} 200 12ms some text`;
const LINES = {
  plain: (n) => `${time(n).replace(/0+$/, '')}Z stdout F ${text(n)}\n`,
  mixed: (n) => `${time(n).replace(/0+$/, '')}Z ${n % 2 ? 'stderr' : 'stdout'} F ${text(n)}\n`,
  json: (n) => `{"log":"${text(n)}\\n","stream":"stdout","time":"${time(n)}Z"}\n`,
};

function writeLog(path, line, bytes) {
  const file = openSync(path, 'w');
  for (let n = 1, written = 0; written < bytes;) {
    let chunk = '';
    for (const end = n + 5000; n < end; n += 1) chunk += line(n);
    written += writeSync(file, chunk);
  }
  closeSync(file);
}

/** Runs a program without output, and returns its time (s), CPU time (s) and peak memory. */
async function run([program, ...args], env) {
  const started = performance.now();
  const child = spawn(program, args, {env: {...process.env, ...env}, stdio: 'ignore'});
  let [megabytes, ticks] = [0, 0];
  const sample = () => {
    try {
      megabytes =
        Number(
          /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1] ?? megabytes * 1024,
        ) / 1024;
      const stat = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(' ');
      ticks = Number(stat[13]) + Number(stat[14]);
    } catch {
      // The process has exited: keep the last values.
    }
  };
  const timer = setInterval(sample, 10);
  const code = await new Promise((resolve) => child.on('close', resolve));
  clearInterval(timer);
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} exited with ${code}`);
  return {seconds: (performance.now() - started) / 1000, cpu: ticks / 100, megabytes};
}

const {FakeRuntime, aContainer, aSandbox} = await import(join(compileFakes(), 'fake-runtime.js'));
const directory = mkdtempSync(join(tmpdir(), 'kcri-bench-'));
const sandbox = aSandbox();
const containers = Object.keys(LINES).map((name) =>
  aContainer({sandbox, name, state: 'CONTAINER_EXITED', logPath: join(directory, `${name}.log`)}),
);
const runtime = await FakeRuntime.start({sandboxes: [sandbox], containers});
const env = {CONTAINER_RUNTIME_ENDPOINT: runtime.endpoint};
const kcri = [process.execPath, join(root, 'bin/kcri.js')];
const CRICTL = 'crictl';
const hasCrictl = spawnSync(CRICTL, ['--version']).status === 0;

/** Returns the command lines of one measurement. cat and an empty run are lower bounds. */
function commandLines({log, args, atMostEmpty}) {
  const {id, logPath} = containers.find(({config}) => config.metadata.name === log);
  return {
    kcri: [...kcri, 'logs', ...args, id],
    ...(hasCrictl ? {crictl: [CRICTL, 'logs', ...args, id]} : {}),
    ...(atMostEmpty === undefined ? {cat: ['cat', logPath]} : {'an empty run': [...kcri, 'version']}),
  };
}

try {
  process.stdout.write(
    `${values.megabytes} MB, medians of ${values.rounds}, load ${loadavg()[0].toFixed(1)}\n`,
  );
  for (const name of values.only?.split(',') ?? Object.keys(MEASURES)) {
    const measure = MEASURES[name];
    const path = join(directory, `${measure.log}.log`);
    writeLog(path, LINES[measure.log], Number(values.megabytes) * 1e6);
    const lines = Object.entries(commandLines(measure));
    const samples = new Map(lines.map(([tool]) => [tool, []]));
    // Alternates the tools, so that other load affects all of them.
    for (let round = 0; round < Number(values.rounds); round += 1)
      for (const [tool, line] of lines) samples.get(tool).push(await run(line, env));
    rmSync(path);
    const of = (tool, key) => median(samples.get(tool).map((sample) => sample[key]));
    for (const tool of samples.keys()) {
      const ratio = of('kcri', 'seconds') / of(tool, 'seconds');
      const limit =
        tool === 'crictl' ? measure.atMost : tool === 'an empty run' ? measure.atMostEmpty : undefined;
      const result =
        limit === undefined ? '' : ratio <= limit ? `  at most ${limit}: yes` : `  at most ${limit}: NO`;
      const comparison = tool === 'kcri' ? '' : `  kcri takes ${ratio.toFixed(2)} times as long${result}`;
      process.stdout.write(
        `${name.padEnd(14)} ${tool.padEnd(13)} ${of(tool, 'seconds').toFixed(2).padStart(6)} s ` +
          `${of(tool, 'cpu').toFixed(2).padStart(6)} s CPU ${of(tool, 'megabytes').toFixed(0).padStart(4)} MB${comparison}\n`,
      );
    }
  }
} finally {
  await runtime.stop();
  rmSync(directory, {recursive: true});
}
