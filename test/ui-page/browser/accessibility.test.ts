import axe from 'axe-core';
import type {Page} from 'playwright-core';
import {expect, test} from 'vitest';
import type {UiSocket} from '../../../src/features/ui/protocol.js';
import {POD_TABS} from '../../../src/ui-page/model/route.js';
import {aUiHistory, aUiNode, aUiPod, manyUiPods, UI_NOW_MS} from '../../fakes/ui/ui-builders.js';
import {goTo, openFakeUi, seeText, sharedBrowser} from './shared-browser.js';

const browser = sharedBrowser();

/** Returns the violations that axe finds, with the elements. */
async function findViolations(page: Page): Promise<readonly string[]> {
  const {violations} = (await page.evaluate('axe.run()')) as axe.AxeResults;
  return violations.flatMap(({id, nodes}) => nodes.map(({html}) => `${id}: ${html}`));
}

const SOCKETS: readonly UiSocket[] = [0, 1, 2, 3, 4, 5].map((id) => ({
  id,
  numaNodes: [{id, cores: [{id, cpus: [{id, owner: `default/pod-${id}/main`, isExclusive: true}]}]}],
}));

const KEY = 'pod node-1 web';

async function openAll(options: Parameters<typeof openFakeUi>[2]) {
  const pods = [
    ...manyUiPods(40, ['node-1', 'node-2']),
    aUiPod({key: KEY, state: 'ContainerCreating', tone: 'busy'}),
    aUiPod({name: 'job', state: 'Completed', tone: 'done'}),
    aUiPod({name: 'lost', node: 'node-2', isStale: true}),
  ];
  const {page} = await openFakeUi(
    browser(),
    {
      pods,
      nodes: [aUiNode(), aUiNode({name: 'node-2', failure: 'connection refused', pressure: {cpu: 20}})],
      allowed: ['exec', 'delete'],
      history: {[KEY]: aUiHistory({cpu: 1, memory: 1e6})},
      log: 'a line\nanother line\n',
      parts: {
        why: {text: 'The image is being pulled.'},
        status: {text: 'Name: web'},
        events: {events: [{timeMs: UI_NOW_MS, type: 'Warning', reason: 'Failed', message: 'text', count: 2}]},
        timeline: {svg: '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10 10"/>'},
        manifest: {lines: [{text: 'kind: Pod'}, {text: 'dnsPolicy: Default', origin: 'default'}]},
      },
      node: {text: 'Name: node-1', topology: SOCKETS},
      doctor: {
        checks: [
          {id: 'a', title: 'A', outcome: 'failure', details: ['detail'], remedy: 'remedy'},
          {id: 'b', title: 'B', outcome: 'warning', details: []},
        ],
      },
    },
    options,
  );
  await page.evaluate(axe.source);
  return page;
}

/** Shows a tab of the pod and waits for its content. */
async function showTab(page: Page, tab: string): Promise<void> {
  const contents: Readonly<Record<string, string>> = {
    status: '.chart canvas',
    logs: '.log pre',
    events: '.events li',
    timeline: '.timeline img',
    manifest: '.origin',
    shell: '.xterm-rows',
  };
  await goTo(page, `#/pod/${encodeURIComponent(KEY)}/${tab}`);
  await page
    .locator(contents[tab] ?? '')
    .first()
    .waitFor();
}

test.each([
  ['light', {colorScheme: 'light'}],
  ['dark', {colorScheme: 'dark'}],
  ['on a phone', {colorScheme: 'light', viewport: {width: 390, height: 844}}],
] as const)('axe finds no violations: %s', async (_, options) => {
  const page = await openAll(options);
  const found: Record<string, readonly string[]> = {};
  await page.keyboard.press('ArrowRight');
  found['pods'] = await findViolations(page);
  await page.keyboard.press('?');
  await page.locator('dialog').waitFor();
  found['help'] = await findViolations(page);
  await page.keyboard.press('Escape');
  await page.keyboard.press('r');
  await seeText(page, '.notice', 'Not allowed');
  found['notice'] = await findViolations(page);
  await page.keyboard.press('x');
  await page.locator('dialog').waitFor();
  found['question'] = await findViolations(page);
  await page.keyboard.press('Escape');
  for (const tab of POD_TABS) {
    await showTab(page, tab);
    found[tab] = await findViolations(page);
  }
  await goTo(page, '#/node/node%20node-1');
  await seeText(page, '.checks', 'remedy');
  found['node'] = await findViolations(page);
  expect(Object.entries(found).filter(([, violations]) => violations.length > 0)).toEqual([]);
});

// axe only looks for an underline where a link has text around it in the same block, and knows nothing of tables.
test.each(['light', 'dark'] as const)(
  'each link has an underline that its text shows: %s',
  async (colorScheme) => {
    const page = await openAll({colorScheme});
    const seen: Record<string, readonly unknown[]> = {};
    /** Returns the texts of links without an underline, and the number of all links. */
    const look = async (): Promise<readonly unknown[]> =>
      (await page.evaluate(`(() => {
      const links = [...document.querySelectorAll('main a')];
      const plain = links.filter((link) => {
        const {textDecorationLine, textDecorationColor, backgroundColor} = getComputedStyle(link);
        const isClear = /^rgba\\(.*, 0\\)$|transparent/.test(textDecorationColor) || textDecorationColor === backgroundColor;
        return textDecorationLine !== 'underline' || isClear;
      });
      return [links.length > 0, ...plain.map(({textContent}) => textContent)];
    })()`)) as readonly unknown[];
    await page.keyboard.press('ArrowRight');
    seen['pods'] = await look();
    await showTab(page, 'status');
    seen['pod'] = await look();
    await goTo(page, '#/pod/gone');
    await seeText(page, 'main a', 'Back to the pods');
    seen['gone'] = await look();
    expect(seen).toEqual({pods: [true], pod: [true], gone: [true]});
  },
);

test('on a phone no view is wider than the screen', async () => {
  const page = await openAll({viewport: {width: 360, height: 740}});
  const excess = 'document.documentElement.scrollWidth - innerWidth';
  const wide: Record<string, unknown> = {pods: await page.evaluate(excess)};
  for (const tab of POD_TABS) {
    await showTab(page, tab);
    wide[tab] = await page.evaluate(excess);
  }
  await goTo(page, '#/node/node%20node-1');
  await seeText(page, '.checks', 'remedy');
  wide['node'] = await page.evaluate(excess);
  expect(Object.entries(wide).filter(([, pixels]) => Number(pixels) > 0)).toEqual([]);
});

test.each([320, 360])('a dialog fits into a screen of %d pixels', async (width) => {
  const page = await openAll({viewport: {width, height: 640}});
  await page.keyboard.press('?');
  await page.locator('dialog').waitFor();
  expect(
    await page.evaluate(
      "document.querySelector('dialog').scrollWidth - document.querySelector('dialog').clientWidth",
    ),
  ).toBe(0);
});

test.each([360, 390, 700, 1000, 1300])(
  'at a width of %i pixels the columns of many pods fill the table, and names have room',
  async (width) => {
    const {page} = await openFakeUi(
      browser(),
      {pods: manyUiPods(300, ['node-1', 'node-2']), nodes: [aUiNode(), aUiNode({name: 'node-2'})]},
      {viewport: {width, height: 740}},
    );
    await page.locator('.pods .spacer').waitFor({state: 'attached'});
    const found = (await page.evaluate(`(() => {
      const cells = [...document.querySelectorAll('.pods thead th')].filter((cell) => cell.offsetWidth > 0);
      const table = document.querySelector('.pods').getBoundingClientRect();
      return {left: table.right - cells.at(-1).getBoundingClientRect().right, name: cells[0].offsetWidth / table.width};
    })()`)) as {readonly left: number; readonly name: number};
    expect(found.left).toBeLessThan(4);
    expect(found.name).toBeGreaterThan(0.15);
    await page.locator('.filter-bar input').fill('state:none');
    await seeText(page, '.pods td', 'No pod or container matches the filter');
  },
);

test('with forced colors, the selection, the pressed button, the tab and links differ from the others', async () => {
  const page = await openAll({forcedColors: 'active'});
  const styles = async (selector: string, style: string): Promise<unknown> =>
    await page.evaluate(`getComputedStyle(document.querySelector(${JSON.stringify(selector)})).${style}`);
  await page.keyboard.press('ArrowDown');
  expect(await styles('.pods tr[aria-selected="true"]', 'outlineStyle')).toBe('solid');
  expect(await styles('.choice [aria-pressed="true"]', 'backgroundColor')).not.toBe(
    await styles('.choice [aria-pressed="false"]', 'backgroundColor'),
  );
  await showTab(page, 'status');
  expect(await styles('.tabs [aria-selected="true"]', 'borderBottomColor')).not.toBe(
    await styles('.tabs [aria-selected="false"]', 'borderBottomColor'),
  );
  expect(await styles('.facts a', 'textDecorationLine')).toBe('underline');
});
