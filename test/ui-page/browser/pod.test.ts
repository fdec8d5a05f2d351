import {expect, test} from 'vitest';
import type {PodParts} from '../../../src/features/ui/protocol.js';
import {until} from '../../base/until.js';
import {aUiContainer, aUiHistory, aUiPod, UI_NOW_MS} from '../../fakes/ui/ui-builders.js';
import {expectNoFaults, goTo, openFakeUi, seeText, sharedBrowser} from './shared-browser.js';

const browser = sharedBrowser();

const KEY = 'pod node-1 web';
const WEB = aUiPod({
  key: KEY,
  state: 'CrashLoopBackOff',
  tone: 'bad',
  containers: [aUiContainer(KEY), aUiContainer(KEY, {name: 'proxy'})],
});

const PARTS: PodParts = {
  status: {text: 'Name: web\nIP: 10.88.0.7'},
  why: {text: 'The container app exits with code 1.'},
  events: {
    events: [
      {timeMs: UI_NOW_MS - 60_000, type: 'Normal', reason: 'Started', message: 'Container started', count: 1},
      {timeMs: UI_NOW_MS, type: 'Warning', reason: 'BackOff', message: '<b>back-off</b>', count: 7},
    ],
  },
  timeline: {
    svg: '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10 10" onload="top.hacked=1"><script>top.hacked=1</script></svg>',
  },
  manifest: {lines: [{text: 'kind: Pod'}, {text: '  dnsPolicy: ClusterFirst', origin: 'default'}]},
};

async function openPod(tab: string, content: Parameters<typeof openFakeUi>[1] = {}) {
  const watched = await openFakeUi(browser(), {pods: [WEB], parts: PARTS, ...content});
  await goTo(watched.page, `#/pod/${encodeURIComponent(KEY)}/${tab}`);
  return watched;
}

test('the status has the cause, usage, containers and the description', async () => {
  const history = {[KEY]: aUiHistory({cpu: 4, memory: 60e6})};
  const watched = await openPod('status', {history});
  const {page, server} = watched;
  await seeText(page, '.card.why', 'The container app exits with code 1.');
  await seeText(page, 'pre.code', 'IP: 10.88.0.7');
  await seeText(page, 'table.plain', 'proxy');
  await page.locator('.chart canvas').first().waitFor();
  await page.getByRole('img', {name: /^CPU of default\/web: now .*highest/}).waitFor();
  await page.locator('.chart .u-over').first().hover();
  await seeText(page, '.summary', /:\d\d.*: /);
  server.content.parts = {...PARTS, why: {text: 'The pod runs.'}};
  server.update({pods: [{...WEB, state: 'Running', tone: 'good'}]});
  await seeText(page, '.card.why.good', 'The pod runs.');
  server.update({removed: [KEY]});
  await seeText(page, 'h1', 'This pod does not exist any more');
  expectNoFaults(watched);
});

test('events, the timeline as a picture that runs nothing, and the manifest with origins', async () => {
  const watched = await openPod('events');
  const {page} = watched;
  await seeText(page, '.events li:first-child', '<b>back-off</b>×7');
  await page.getByRole('tab', {name: 'Timeline'}).click();
  const image = page.getByRole('img', {name: /^Timeline of default\/web/});
  await image.waitFor();
  await until(async () => Number(await page.evaluate('document.images[0].naturalWidth')) > 0);
  expect(await page.evaluate('window.hacked')).toBeUndefined();
  await seeText(page, '.hint', 'A pale bar and “~” mean that the phase is inferred');
  await page.keyboard.press('ArrowRight');
  await seeText(page, '.manifest .added', 'ClusterFirstdefault');
  await page.getByRole('checkbox', {name: 'Show the origins of values'}).uncheck();
  await page.locator('.origin').first().waitFor({state: 'detached'});
  expectNoFaults(watched);
});

test('a log is followed, paused and searched, of one container or all', async () => {
  const lines = Array.from({length: 400}, (_, index) => `line ${index}`).join('\n');
  const watched = await openPod('logs', {log: `${lines}\n`});
  const {page, server} = watched;
  const log = page.locator('.log');
  const distanceFromEnd = async (): Promise<unknown> =>
    await page.evaluate(
      '[document.querySelector(".log")].map((log) => log.scrollHeight - log.scrollTop - log.clientHeight)[0]',
    );
  await log.filter({hasText: 'line 399'}).waitFor();
  await until(async () => Number(await distanceFromEnd()) < 4);
  server.log('\u001b[32mnew\u001b[0m <i>line</i>\n');
  await log.filter({hasText: 'new <i>line</i>'}).waitFor();
  await until(async () => Number(await distanceFromEnd()) < 4);
  await log.hover();
  await page.mouse.wheel(0, -1000);
  await page.getByRole('button', {name: 'Paused'}).waitFor();
  server.log('unseen\n');
  await log.filter({hasText: 'unseen'}).waitFor();
  expect(await distanceFromEnd()).toBeGreaterThan(500);
  await page.keyboard.press('f');
  await until(async () => Number(await distanceFromEnd()) < 4);
  await page.keyboard.press('/');
  await page.keyboard.type('LINE 7');
  await page.keyboard.press('Enter');
  await log.locator('mark.current').waitFor();
  expect(await log.locator('mark').count()).toBe(11);
  await page.getByRole('combobox').selectOption('proxy');
  await until(() => new URL(page.url()).hash.endsWith('/logs/proxy') && server.openLogs === 1);
  await page.getByRole('link', {name: 'Pods'}).click();
  await until(() => server.openLogs === 0);
  expectNoFaults(watched);
});

test('a shell runs in the page', async () => {
  const watched = await openPod('shell', {allowed: ['exec']});
  const {page, server} = watched;
  await seeText(page, '.xterm-rows', `shell of container ${KEY} app`);
  await page.keyboard.type('ls');
  await until(() => server.typed === 'ls');
  server.print('\u001b[38;2;255;0;10mcolored\u001b[0m ');
  await seeText(page, '.xterm-rows', 'colored');
  expect(
    await page.evaluate(
      `getComputedStyle(Array.from(document.querySelectorAll('.xterm-rows span')).find((each) => each.textContent.includes('colored'))).color`,
    ),
  ).toBe('rgb(255, 0, 10)');
  await page.setViewportSize({width: 700, height: 600});
  await until(() => /"kind":"resize","columns":\d\d,/.test(server.terminalSize));
  await page.keyboard.press('Control+d');
  await seeText(page, '[role="status"]', 'The shell ended with exit code 0');
  await page.getByRole('button', {name: 'Open again'}).click();
  await seeText(page, '.xterm-rows', 'shell of');
  expectNoFaults(watched);
});

test('a shell whose output is more than can be shown is asked to wait, and loses nothing', async () => {
  const watched = await openPod('shell', {allowed: ['exec']});
  const {page, server} = watched;
  await seeText(page, '.xterm-rows', 'shell of');
  // In one message, however fast the page shows what arrives.
  server.print(`${'x'.repeat(78)}\r\n`.repeat(10_000));
  server.print('the end');
  await seeText(page, '.xterm-rows', 'the end');
  await until(() => server.flows.length > 1);
  expect(server.flows).toEqual(['{"kind":"flow","isPaused":true}', '{"kind":"flow","isPaused":false}']);
  expectNoFaults(watched);
});

test('without --allow nothing is done, and the page says how to allow it', async () => {
  const watched = await openPod('shell');
  const {page, server} = watched;
  await seeText(page, '.tab-panel', 'kcri ui --allow=exec');
  for (const [name, flag] of [
    ['Restart', 'restart'],
    ['Delete', 'delete'],
  ] as const) {
    const button = page.getByRole('button', {name});
    expect(await button.getAttribute('aria-disabled')).toBe('true');
    await button.click({force: true});
    await seeText(page, '.notice', `kcri ui --allow=${flag}`);
  }
  await page.keyboard.press('x');
  expect(await page.locator('dialog').count()).toBe(0);
  expect(server.actions).toEqual([]);
  expectNoFaults(watched);
});

test('allowed actions ask, and say what was done', async () => {
  const watched = await openPod('status', {allowed: ['restart', 'delete']});
  const {page, server} = watched;
  await page.getByRole('button', {name: 'Delete'}).click();
  await seeText(page, 'dialog', 'default/web on node-1');
  await page.keyboard.press('Escape');
  await page.locator('dialog').waitFor({state: 'detached'});
  expect(server.actions).toEqual([]);
  await page.keyboard.press('r');
  await page.locator('dialog').getByRole('button', {name: 'Restart'}).click();
  await seeText(page, '.notice', 'Restarted default/web');
  expect(server.actions).toEqual([`restart ${KEY}`]);
  expectNoFaults(watched);
});

test('a refused action says why', async () => {
  const {page, server} = await openPod('status', {allowed: ['delete']});
  await page.getByRole('button', {name: 'Delete'}).click();
  server.content.allowed = [];
  await page.locator('dialog').getByRole('button', {name: 'Delete'}).click();
  await seeText(page, 'dialog .error', 'delete is not allowed');
});
