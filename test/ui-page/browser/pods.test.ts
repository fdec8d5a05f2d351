import {expect, onTestFinished, test} from 'vitest';
import {until} from '../../base/until.js';
import {openPage} from '../../fakes/ui/chromium.js';
import {FakeUiServer} from '../../fakes/ui/fake-ui-server.js';
import {aUiContainer, aUiNode, aUiPod, manyUiPods, UI_NOW_MS} from '../../fakes/ui/ui-builders.js';
import {expectNoFaults, openFakeUi, seeText, sharedBrowser} from './shared-browser.js';

const browser = sharedBrowser();

const WEB = aUiPod({name: 'web', cpuPercent: 80});
const API = aUiPod({
  name: 'api',
  state: 'CrashLoopBackOff',
  tone: 'bad',
  why: 'exits with code 1',
  cpuPercent: 2,
});

/** Names of the pods in the order in which they are shown. */
const NAMES = `Array.from(document.querySelectorAll('.pods td.name a'), ({textContent}) => textContent)`;

test('a link is exchanged for a session of the tab, which a reload keeps, and its token leaves the address', async () => {
  const watched = await openFakeUi(browser(), {pods: [WEB]});
  const {page} = watched;
  expect(new URL(page.url()).hash).toBe('#/');
  expect(await page.evaluate('Object.keys(localStorage).length')).toBe(0);
  await page.reload();
  await seeText(page, '.pods td', 'default/web');
  expectNoFaults(watched);
});

test('a link that was used says how to get another', async () => {
  await using server = await FakeUiServer.start();
  const {page} = await openPage(browser(), server.link.replace('one-time', 'used'));
  onTestFinished(async () => {
    await page.context().close();
  });
  await seeText(page, 'main', 'the link has been used');
  await seeText(page, 'main', 'press Enter in its terminal for a new link');
});

test('pods and nodes change while they are looked at', async () => {
  const watched = await openFakeUi(browser(), {pods: [WEB, API]});
  const {page, server} = watched;
  await seeText(page, '.counts', '2 pods1 failing');
  await seeText(page, 'tr:has-text("api") td.why', 'exits with code 1');
  server.update({
    nodes: [aUiNode({cpuPercent: 99})],
    pods: [{...WEB, state: 'Terminating', tone: 'busy', cpuPercent: 12}],
    removed: [API.key],
  });
  await seeText(page, 'tr:has-text("web") td.state', 'Terminating');
  await seeText(page, 'tr:has-text("web") td.cpu', '12');
  await seeText(page, '.node-card', '99% of 8 cores');
  await seeText(page, '.counts', /^1 pod$/);
  expectNoFaults(watched);
});

test('a sample renders no row of a pod that it has not changed', async () => {
  const pods = [WEB, API].map((pod) => ({...pod, startedMs: UI_NOW_MS - 86_400_000 * 3}));
  const flat = {
    timesMs: Array.from({length: 60}, (_, index) => UI_NOW_MS - (59 - index) * 2000),
    cpuPercent: Array.from({length: 60}, () => 7),
    memoryBytes: Array.from({length: 60}, () => 7e6),
  };
  const keys = pods.flatMap(({key, containers}) => [key, ...containers.map((container) => container.key)]);
  const watched = await openFakeUi(browser(), {
    pods: pods.map((pod) => ({...pod, cpuPercent: 7, memoryBytes: 7e6})),
    history: Object.fromEntries(keys.map((key) => [key, flat])),
  });
  const {page, server} = watched;
  await seeText(page, 'tr:has-text("api") td.cpu', '7.0');
  await page.evaluate(`{
    window.changed = new Set();
    const watch = new MutationObserver((changes) => {
      for (const {target} of changes) {
        const row = (target instanceof Element ? target : target.parentElement).closest('.pods tbody tr');
        if (row !== null) window.changed.add(row.querySelector('td.name a').title);
      }
    });
    watch.observe(document.querySelector('.pods'), {subtree: true, childList: true, characterData: true, attributes: true});
  }`);
  const changed = async (): Promise<unknown> => await page.evaluate('[...window.changed]');
  server.update({nodes: [aUiNode({cpuPercent: 41})]});
  await seeText(page, '.node-card', '41%');
  expect(await changed()).toEqual([]);
  server.update({usage: {[WEB.key]: [9, 7e6, 9, 7e6]}});
  await seeText(page, 'tr:has-text("web") td.cpu', '9.0');
  expect(await changed()).toEqual(['default/web']);
  expectNoFaults(watched);
});

test('a lost connection is explained, and opened again with the present state', async () => {
  const {page, server} = await openFakeUi(browser(), {pods: [WEB]});
  server.isCut = true;
  server.cut();
  await seeText(page, '.banner', /Not live: .*(Next attempt in|Connecting again)/);
  await seeText(page, '.link-state', 'Reconnecting');
  server.content.pods = [API];
  server.isCut = false;
  await seeText(page, '.link-state', 'Live');
  await seeText(page, '.pods td', 'default/api');
  expect(await page.evaluate(NAMES)).toEqual(['default/api']);
  expect(await page.locator('.banner').count()).toBe(0);
});

test('after a restart of the server the page says that its session has ended', async () => {
  const {page, server} = await openFakeUi(browser(), {pods: [WEB]});
  server.hasForgotten = true;
  server.cut();
  await seeText(page, 'main', 'This session has ended');
  expect(await page.evaluate('sessionStorage.length')).toBe(0);
});

test('keys select, sort, filter and open rows as in top', async () => {
  const watched = await openFakeUi(browser(), {pods: [WEB, API]});
  const {page} = watched;
  const selected = page.locator('.pods tr[aria-selected="true"]');
  await seeText(page, '.pods tr[aria-selected="true"]', 'api');
  await page.keyboard.press('j');
  await selected.filter({hasText: 'web'}).waitFor();
  await page.keyboard.press('C');
  await until(async () => String(await page.evaluate(NAMES)) === 'default/web,default/api');
  await page.keyboard.press('/');
  await page.keyboard.type('state:crash');
  await until(async () => String(await page.evaluate(NAMES)) === 'default/api');
  await page.keyboard.press('Enter');
  await page.keyboard.press('l');
  await seeText(page, '[role="tab"][aria-selected="true"]', 'Logs');
  await page.keyboard.press('e');
  await seeText(page, '[role="tab"][aria-selected="true"]', 'Events');
  await page.keyboard.press('Escape');
  await page.locator('.pods').waitFor();
  await page.keyboard.press('Escape');
  await until(async () => String(await page.evaluate(NAMES)) === 'default/web,default/api');
  await page.keyboard.press('?');
  await seeText(page, 'dialog', 'select a row');
  await page.keyboard.press('Escape');
  await page.locator('dialog').waitFor({state: 'detached'});
  expectNoFaults(watched);
});

test('clicks sort, expand and open rows', async () => {
  const watched = await openFakeUi(browser(), {pods: [WEB, API]});
  const {page} = watched;
  await page.getByRole('button', {name: 'CPU'}).click();
  await page.locator('th[aria-sort="descending"]').filter({hasText: 'CPU'}).waitFor();
  await page.getByRole('button', {name: 'CPU'}).click();
  await page.locator('th[aria-sort="ascending"]').filter({hasText: 'CPU'}).waitFor();
  await page.getByRole('button', {name: 'Show containers of default/web'}).click();
  await page.getByRole('button', {name: 'Hide containers of default/web'}).waitFor();
  await page.getByRole('link', {name: 'app'}).click();
  await seeText(page, '[role="tab"][aria-selected="true"]', 'Logs');
  await page.getByRole('link', {name: 'Pods'}).click();
  await page.getByRole('button', {name: 'Containers', exact: true}).click();
  await page.getByRole('link', {name: 'default/api/app'}).waitFor();
  await page.getByRole('link', {name: 'node-1'}).click();
  await seeText(page, 'h1', 'node-1');
  expectNoFaults(watched);
});

test('of 500 pods only those near the screen are rendered, and all can be reached', async () => {
  const watched = await openFakeUi(browser(), {pods: manyUiPods(500), nodes: [aUiNode()]});
  const {page} = watched;
  const rows = page.locator('.pods tbody tr[aria-rowindex]');
  expect(await page.locator('.pods').getAttribute('aria-rowcount')).toBe('501');
  expect(await rows.count()).toBeLessThan(90);
  await page.keyboard.press('G');
  await seeText(page, 'tr[aria-selected="true"]', 'service-499');
  expect(await rows.count()).toBeLessThan(90);
  const box = await page.locator('tr[aria-selected="true"]').boundingBox();
  expect(box!.y + box!.height).toBeLessThan(851);
  await page.mouse.wheel(0, -100_000);
  await seeText(page, '.pods td', 'service-000');
  expectNoFaults(watched);
});

test('names and texts of pods are never markup, and do not break the layout', async () => {
  const evil = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>';
  const pods = [
    aUiPod({
      key: 'pod evil',
      name: evil,
      namespace: evil,
      why: evil,
      containers: [aUiContainer('pod evil', {name: evil})],
    }),
    aUiPod({name: 'a\u202egnp.exe'}),
    aUiPod({name: 'x'.repeat(5000), state: 'y'.repeat(500), why: 'z'.repeat(5000)}),
    aUiPod({key: '__proto__', name: '__proto__'}),
  ];
  const watched = await openFakeUi(browser(), {pods, nodes: [aUiNode({runtime: evil, failure: evil})]});
  const {page} = watched;
  await seeText(page, '.pods td', evil);
  await seeText(page, '.pods td', String.raw`a\u202egnp.exe`);
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
  for (const name of [evil, 'x'.repeat(5000), '__proto__']) {
    await page.locator('.pods a', {hasText: name}).first().click();
    await seeText(page, 'h1', name);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    await page.keyboard.press('q');
  }
  expect(await page.evaluate('[window.hacked, document.images.length]')).toEqual([undefined, 0]);
  expectNoFaults(watched);
});

test('colors follow the system, and can be chosen', async () => {
  const {page} = await openFakeUi(browser(), {}, {colorScheme: 'dark'});
  const background = async (): Promise<unknown> =>
    await page.evaluate('getComputedStyle(document.body).backgroundColor');
  const dark = await background();
  await page.emulateMedia({colorScheme: 'light'});
  await until(async () => (await background()) !== dark);
  await page.emulateMedia({colorScheme: 'dark'});
  await until(async () => (await background()) === dark);
  await page.getByRole('button', {name: 'Colors: system'}).click();
  await until(async () => (await background()) !== dark);
  await page.reload();
  await page.getByRole('button', {name: 'Colors: light'}).click();
  await until(async () => (await background()) === dark);
});

test.each([640, 700, 1000, 1360])('texts of nodes do not overlap at a width of %i pixels', async (width) => {
  const busy = {memoryBytes: 99.9e9, memoryTotalBytes: 99.9e9, cores: 128, cpuPercent: 100, measuredMs: 1};
  const nodes = [aUiNode(busy), aUiNode({...busy, name: 'node-2'})];
  const {page} = await openFakeUi(browser(), {nodes}, {viewport: {width, height: 800}});
  await page.locator('.measured').first().waitFor();
  const overflowing = `[...document.querySelectorAll('.meters > div:not(.pressure)')].flatMap((meter) =>
    meter.scrollWidth > meter.offsetWidth ? [meter.textContent] : [])`;
  expect(await page.evaluate(overflowing)).toEqual([]);
});

test('a node without a measurement has no percentage', async () => {
  const {page} = await openFakeUi(browser(), {nodes: [{key: 'node n', name: 'n'}]});
  await seeText(page, '.meters', 'CPU');
  expect(await page.locator('.meters dd').allTextContents()).toEqual(['-', '-']);
});

test('a click hides the notice of an action', async () => {
  const {page} = await openFakeUi(browser(), {pods: [WEB]});
  await page.keyboard.press('x');
  await seeText(page, '.notice', 'Not allowed');
  await page.locator('.counts').click();
  await page.locator('.notice', {hasText: 'Not allowed'}).waitFor({state: 'detached'});
});
