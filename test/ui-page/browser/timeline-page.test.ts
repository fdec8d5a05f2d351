import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import type {Timeline} from '../../../src/features/timeline/phase.js';
import {formatHtml} from '../../../src/features/timeline/timeline-html.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {openPage} from '../../fakes/ui/chromium.js';
import {expectNoFaults, sharedBrowser} from './shared-browser.js';

const browser = sharedBrowser();
const EVIL = '</text></svg><script>document.title="run"</script><img src=x onerror="document.title=1">';

const TIMELINE: Timeline = {
  ...{namespace: 'team', name: EVIL, uid: 'u1', startMs: 1000, readyMs: 6000, nowMs: 60_000},
  phases: [
    {name: 'sandbox', startMs: 1000, endMs: 2500, source: 'runtime'},
    {name: 'pull', subject: EVIL, startMs: 2500, endMs: 5000, source: 'kubelet', note: EVIL},
  ],
};

test('the page of a timeline runs no script of a name, zooms between bars, and scrolls elsewhere', async () => {
  const file = join(await temporaryDirectory(), 'timeline.html');
  await writeFile(
    file,
    formatHtml(
      Array.from({length: 30}, () => TIMELINE),
      new Map(),
    ),
  );
  const watched = await openPage(browser(), `file://${file}`, {colorScheme: 'dark'});
  const {page} = watched;
  onTestFinished(async () => {
    await page.context().close();
  });
  const bar = page.locator('.p').nth(1).locator('rect');
  const width = async (): Promise<number> => Number(await bar.getAttribute('width'));
  const whole = await width();
  const box = await bar.boundingBox();
  if (box === null) throw new Error('no bar');
  // Below the bar of the sandbox, left of that of the pull.
  await page.mouse.move(box.x - 20, box.y + 5);
  await page.mouse.wheel(0, -100);
  await expect.poll(width).toBeGreaterThan(whole);
  await page.keyboard.press('0');
  expect(await width()).toBeCloseTo(whole);
  await page.mouse.move(20, box.y + 5);
  await page.mouse.wheel(0, 100);
  await expect.poll(async () => await page.evaluate<number>('scrollY')).toBeGreaterThan(0);
  expect(await width()).toBeCloseTo(whole);
  expect(await page.title()).toBe('kcri timeline');
  expectNoFaults(watched);
});
