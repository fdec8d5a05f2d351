// The page of `kcri ui` in Chromium, and what it costs.
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';
import {compileFakes} from '../../../scripts/compile-fakes.mjs';
import {within} from '../program.mjs';

const {openPage, startChromium} = await import(pathToFileURL(join(compileFakes(), 'ui/chromium.js')).href);
/** Time of a frame at 60 frames per second, in ms, and that from which it is late. */
const FRAME_MS = 1000 / 60;
const LATE_MS = 1.5 * FRAME_MS;
/** Distance that is scrolled in a frame: 24 rows of 36 pixels in a second. */
const STEP_PIXELS = 15;
/** Returns the time of the first paint after the navigation, in ms. */
const FIRST_PAINT = `performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN`;

/** Deadline of what the browser is asked, in s: a busy machine delays it. */
const ANSWER_SECONDS = 60;

/** Opens the page of a link, and waits until it shows pods. */
export async function openMeasuredPage(link) {
  const browser = await within(ANSWER_SECONDS, 'the start of Chromium', startChromium());
  try {
    return await measuredPage(browser, link);
  } catch (error) {
    await close(browser);
    throw error;
  }
}

async function close(browser) {
  await within(ANSWER_SECONDS, 'the end of Chromium', browser.close());
}

async function measuredPage(browser, link) {
  const {page} = await within(ANSWER_SECONDS, 'the page', openPage(browser, link));
  await within(ANSWER_SECONDS, 'a pod on the page', page.locator('.pods td.name a').first().waitFor());
  const session = await within(ANSWER_SECONDS, 'a session', page.context().newCDPSession(page));
  const ask = async (to, method, parameters) =>
    await within(ANSWER_SECONDS, `the browser's answer to ${method}`, to.send(method, parameters));
  // Processor time rather than time: other programs may run between.
  await ask(session, 'Performance.enable', {timeDomain: 'threadTicks'});
  await ask(session, 'Network.enable');
  let bytes = 0;
  session.on('Network.dataReceived', ({dataLength}) => (bytes += dataLength));
  const system = await within(ANSWER_SECONDS, 'a session of the browser', browser.newBrowserCDPSession());
  /** Returns the processor time that the page's threads have used, in ms: those of its renderer and of the compositor. */
  const cpuMs = async () => {
    const {processInfo} = await ask(system, 'SystemInfo.getProcessInfo');
    const own = processInfo.filter(({type}) => type === 'renderer' || type === 'GPU');
    return own.reduce((sum, {cpuTime}) => sum + 1000 * cpuTime, 0);
  };
  const taskMs = async () => {
    const {metrics} = await ask(session, 'Performance.getMetrics');
    return 1000 * metrics.find(({name}) => name === 'TaskDuration').value;
  };
  return {
    cpuMs,
    receivedBytes: () => bytes,
    firstPaintMs: async () =>
      await within(ANSWER_SECONDS, 'the time of the first paint', page.evaluate(FIRST_PAINT)),
    /** Scrolls through the table for some seconds. */
    scroll: async (seconds) => {
      const before = await taskMs();
      const times = await within(
        seconds + ANSWER_SECONDS,
        'frames of the page',
        page.evaluate(scrollScript(seconds)),
      );
      const spentMs = (await taskMs()) - before;
      const gaps = times.slice(1).map((time, index) => time - times[index]);
      return {
        framesPerSecond: (1000 * gaps.length) / (times.at(-1) - times[0]),
        lateShare: gaps.filter((gap) => gap > LATE_MS).length / gaps.length,
        taskMs: spentMs / times.length,
      };
    },
    close: async () => {
      await close(browser);
    },
  };
}

/** Returns a script that scrolls down and up again in each frame, and resolves with the times of the frames. */
function scrollScript(seconds) {
  return `new Promise((resolve) => {
    const times = [];
    let step = ${STEP_PIXELS};
    const frame = (time) => {
      times.push(time);
      const before = scrollY;
      scrollBy(0, step);
      if (scrollY === before) step = -step;
      if (time - times[0] < ${seconds * 1000}) requestAnimationFrame(frame);
      else resolve(times);
    };
    requestAnimationFrame(frame);
  })`;
}
