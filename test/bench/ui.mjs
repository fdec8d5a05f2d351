// Measures the page of `kcri ui` on a fake runtime: processor time of kcri without a page, while one is open and after it was
// closed; that of the browser; bytes of the live stream; and frames while the table is scrolled.
// Usage: npm run bench:ui [-- --pods=20,500] [--seconds=60] [--changing=0.1] [--profile=DIR]
// Needs Debian's Chromium. --changing is the share of containers whose usage differs in each sample.
import {loadavg} from 'node:os';
import {setTimeout as delay} from 'node:timers/promises';
import {parseArgs} from 'node:util';
import {openMeasuredPage} from './ui/measured-page.mjs';
import {withUiNode} from './ui/ui-node.mjs';

const {values} = parseArgs({
  options: {
    pods: {type: 'string', default: '20,500'},
    seconds: {type: 'string', default: '60'},
    changing: {type: 'string', default: '0.1'},
    profile: {type: 'string'},
  },
});
const seconds = Number(values.seconds);
/** Time in which code is compiled and the pause between samples settles, in s. */
const WARM_UP_SECONDS = 30;

/** Returns the share of a core that `cpuMs` counts in a number of seconds, in percent. */
async function shareOf(cpuMs, duration = seconds) {
  const [before, startedAt] = [await cpuMs(), performance.now()];
  await delay(duration * 1000);
  return (100 * ((await cpuMs()) - before)) / (performance.now() - startedAt);
}

/** Says on standard error what takes time. */
function note(text) {
  process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`);
}

async function measure(pods) {
  note(`starting ${pods} pods`);
  return await withUiNode(
    {pods, changing: Number(values.changing), profile: values.profile},
    async (node) => {
      note('measuring without a page');
      const without = await shareOf(node.cpuMs, seconds / 3);
      note('opening the page');
      const page = await openMeasuredPage(node.link);
      try {
        const firstPaintMs = await page.firstPaintMs();
        await delay(WARM_UP_SECONDS * 1000);
        note('measuring the page');
        const [samples, bytes] = [node.samples(), page.receivedBytes()];
        const [kcri, browser] = await Promise.all([shareOf(node.cpuMs), shareOf(page.cpuMs)]);
        const taken = node.samples() - samples;
        const sent = page.receivedBytes() - bytes;
        note('scrolling');
        const scrolling = await page.scroll(10);
        await page.close();
        note('measuring after the page');
        const calls = node.calls();
        await delay(2000);
        const after = await shareOf(node.cpuMs, seconds / 3);
        return {
          pods,
          without,
          firstPaintMs,
          kcri,
          browser,
          interval: seconds / taken,
          bytes: sent / taken,
          ...scrolling,
          after,
          callsAfter: node.calls() - calls,
          memory: await node.memoryMib(),
        };
      } finally {
        await page.close();
      }
    },
  );
}

const HEADERS = {
  pods: ({pods}) => pods,
  'no page': ({without}) => percent(without),
  'kcri, page open': ({kcri}) => percent(kcri),
  browser: ({browser}) => percent(browser),
  interval: ({interval}) => `${interval.toFixed(1)} s`,
  'per sample': ({bytes}) => `${(bytes / 1000).toFixed(1)} kB`,
  'first paint': ({firstPaintMs}) => `${firstPaintMs.toFixed(0)} ms`,
  'frames per second while scrolling': ({framesPerSecond}) => framesPerSecond.toFixed(1),
  'processor time of a frame': ({taskMs}) => `${taskMs.toFixed(1)} ms`,
  'late frames': ({lateShare}) => percent(100 * lateShare),
  'after the page': ({after, callsAfter}) => `${percent(after)}, ${callsAfter} calls`,
  memory: ({memory}) => `${memory.toFixed(0)} MiB`,
};

function percent(value) {
  return `${value.toFixed(2)} %`;
}

const line = (cells) => `| ${cells.join(' | ')} |\n`;
process.stdout.write(
  `Node.js ${process.version}, load ${loadavg()[0].toFixed(1)}, ${values.changing} of containers change:\n\n`,
);
process.stdout.write(line(Object.keys(HEADERS)) + line(Object.keys(HEADERS).map(() => '---')));
for (const pods of values.pods.split(',').map(Number)) {
  const row = await measure(pods);
  process.stdout.write(line(Object.values(HEADERS).map((format) => format(row))));
}
process.stdout.write(`\nload afterwards: ${loadavg()[0].toFixed(1)}\n`);
