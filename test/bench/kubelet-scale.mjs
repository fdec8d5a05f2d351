// Measures what many pods cost a kubelet on the fake runtime: all started, then kept while one container a second is
// killed for ten minutes, on a clock that is quicker than the machine's.
// Usage: npm run bench:kubelet-scale [-- --pods=100,250,500] [--minutes=10] [--factor=10] [--profile=DIR]
import {fork} from 'node:child_process';
import {once} from 'node:events';
import {mkdir, mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';
import {parseArgs} from 'node:util';
import {compileFakes} from '../../scripts/compile-fakes.mjs';
import {quickClock} from './kubelet/quick-clock.mjs';

const {values} = parseArgs({
  options: {
    pods: {type: 'string', default: '100,250,500'},
    minutes: {type: 'string', default: '10'},
    factor: {type: 'string', default: '10'},
    profile: {type: 'string'},
  },
});
const minutes = Number(values.minutes);
const factor = Number(values.factor);
const CONTAINERS = 3;
const BUSYBOX = 'localhost:5000/busybox:1';
const DAEMON = fileURLToPath(new URL('kubelet/scale-daemon.mjs', import.meta.url));
const {FakeRuntime} = await import(pathToFileURL(join(compileFakes(), 'fake-runtime.js')).href);

process.stdout.write(
  'pods  started  CPU start  CPU/min  delay p99 (max)      RSS 1st…last min  restarts of kills\n',
);
for (const pods of values.pods.split(',').map(Number)) process.stdout.write(`${await measure(pods)}\n`);

async function measure(pods) {
  const directory = await mkdtemp(join(tmpdir(), 'kcri-scale-'));
  const manifestsDir = join(directory, 'manifests');
  await mkdir(manifestsDir);
  for (let n = 0; n < pods; n += 1) await writeFile(join(manifestsDir, `${n}.json`), manifest(n));
  const clock = quickClock(Date.now(), 1);
  const quick = quickClock(Date.now(), factor);
  const fake = await FakeRuntime.start({clock: quick});
  const startedAt = performance.now();
  const daemon = start(fake, directory, manifestsDir);
  const ask = async () => {
    daemon.send('cost');
    const [cost] = await once(daemon, 'message');
    return cost;
  };
  try {
    while (running(fake) < pods * CONTAINERS) await clock.sleep(20);
    const startSeconds = (performance.now() - startedAt) / 1000;
    const start = await ask();
    const rounds = [];
    let kills = 0;
    for (let minute = 0; minute < minutes; minute += 1) {
      for (let second = 0; second < 60; second += 1) {
        await quick.sleep(1000);
        // Each in its turn, so that none is killed while it is backed off.
        const victims = fake.containers.filter(({state}) => state === 'CONTAINER_RUNNING');
        fake.exitContainer(victims[(kills * 7) % victims.length].id, 137);
        kills += 1;
      }
      rounds.push(await ask());
    }
    await until(() => running(fake) === pods * CONTAINERS, clock);
    let end = await ask();
    await until(async () => (end = await ask()).restarts >= kills, clock);
    return row({pods, startSeconds, start, rounds, kills, restarts: end.restarts, errors: end.errors});
  } finally {
    daemon.disconnect();
    await once(daemon, 'exit');
    await fake.stop();
    await rm(directory, {recursive: true});
  }
}

function start(fake, directory, manifestsDir) {
  const options = {
    endpoint: fake.endpoint,
    rootDir: join(directory, 'root'),
    podLogsDir: join(directory, 'logs'),
    manifestsDir,
    origin: Date.now(),
    factor,
  };
  const execArgv = values.profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${values.profile}`];
  return fork(DAEMON, [JSON.stringify(options)], {execArgv});
}

async function until(condition, clock) {
  const end = performance.now() + 60_000;
  while (!(await condition()) && performance.now() < end) await clock.sleep(50);
}

function running(fake) {
  return fake.containers.filter(({state}) => state === 'CONTAINER_RUNNING').length;
}

function manifest(n) {
  const containers = Array.from({length: CONTAINERS}, (_, index) => ({
    name: `c${index}`,
    image: BUSYBOX,
    imagePullPolicy: 'IfNotPresent',
    command: ['sleep', 'infinity'],
  }));
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {name: `scale-${n}`},
    spec: {containers, hostNetwork: false},
  });
}

function row({pods, startSeconds, start, rounds, kills, restarts, errors}) {
  const cpu = rounds.reduce((sum, {cpuSeconds}) => sum + cpuSeconds, 0) / rounds.length;
  const p99 = Math.max(...rounds.map(({delayP99}) => delayP99));
  const max = Math.max(...rounds.map(({delayMax}) => delayMax));
  const faults = Object.entries(errors).map(([message, times]) => `\n      ${times} × ${message}`);
  return [
    String(pods).padStart(4),
    `${startSeconds.toFixed(1)} s`.padStart(8),
    `${start.cpuSeconds.toFixed(1)} s`.padStart(9),
    `${cpu.toFixed(2)} s`.padStart(9),
    `${p99.toFixed(0)} ms (${max.toFixed(0)} ms), start ${start.delayP99.toFixed(0)} ms`.padStart(26),
    `${rounds.map(({rss}) => rss.toFixed(0)).join(' ')} MiB`,
    ` ${restarts} of ${kills}`,
    ...faults,
  ].join(' ');
}
