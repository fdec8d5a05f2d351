// Measures the cost of many pods on the fake runtime: all are started, then one container per second is killed for ten
// minutes, on an accelerated clock.
// Usage: npm run bench:kubelet-scale [-- --pods=100,250,500] [--minutes=10] [--factor=10] [--profile=DIR]
import {parseArgs} from 'node:util';
import {acceleratedClock} from './kubelet/accelerated-clock.mjs';
import {withScaleNode} from './kubelet/scale-node.mjs';

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
const wallClock = acceleratedClock(Date.now(), 1);

process.stdout.write(
  'pods  started  CPU start  CPU/min  delay p99 (max)      RSS 1st…last min  restarts/kills\n',
);
for (const pods of values.pods.split(',').map(Number))
  await withScaleNode({pods, factor, profile: values.profile}, async (node) => {
    process.stdout.write(`${await measure(node)}\n`);
  });

async function measure(node) {
  const startedAt = performance.now();
  node.start({eventedPleg: true, watchesDelay: true});
  while (!node.isComplete) await wallClock.sleep(20);
  const startSeconds = (performance.now() - startedAt) / 1000;
  const start = await node.cost();
  const rounds = [];
  let kills = 0;
  for (let minute = 0; minute < minutes; minute += 1) {
    for (let second = 0; second < 60; second += 1) {
      await node.clock.sleep(1000);
      // Kills containers in turn, so that none is in back-off.
      const victims = node.running;
      node.fake.exitContainer(victims[(kills * 7) % victims.length].id, 137);
      kills += 1;
    }
    rounds.push(await node.cost());
  }
  await until(() => node.isComplete);
  let end = await node.cost();
  await until(async () => (end = await node.cost()).restarts >= kills);
  return row({
    pods: node.pods,
    startSeconds,
    start,
    rounds,
    kills,
    restarts: end.restarts,
    errors: end.errors,
  });
}

async function until(condition) {
  const end = performance.now() + 60_000;
  while (!(await condition()) && performance.now() < end) await wallClock.sleep(50);
}

function row({pods, startSeconds, start, rounds, kills, restarts, errors}) {
  const cpu = rounds.reduce((sum, {cpuSeconds}) => sum + cpuSeconds, 0) / rounds.length;
  const p99 = Math.max(...rounds.map(({delayP99}) => delayP99));
  const max = Math.max(...rounds.map(({delayMax}) => delayMax));
  const errorLines = Object.entries(errors).map(([message, times]) => `\n      ${times} × ${message}`);
  return [
    String(pods).padStart(4),
    `${startSeconds.toFixed(1)} s`.padStart(8),
    `${start.cpuSeconds.toFixed(1)} s`.padStart(9),
    `${cpu.toFixed(2)} s`.padStart(9),
    `${p99.toFixed(0)} ms (${max.toFixed(0)} ms), start ${start.delayP99.toFixed(0)} ms`.padStart(26),
    `${rounds.map(({rss}) => rss.toFixed(0)).join(' ')} MiB`,
    ` ${restarts} of ${kills}`,
    ...errorLines,
  ].join(' ');
}
