import {expect, test} from 'vitest';
import type {DoctorAnswer, UiSocket} from '../../../src/features/ui/protocol.js';
import {aUiNode, UI_NOW_MS} from '../../fakes/ui/ui-builders.js';
import {expectNoFaults, goTo, openFakeUi, seeText, sharedBrowser} from './shared-browser.js';

const browser = sharedBrowser();

const SOCKETS: readonly UiSocket[] = [
  {
    id: 0,
    numaNodes: [
      {
        id: 0,
        memoryBytes: 16e9,
        cores: [
          {
            id: 0,
            cpus: [
              {id: 0, owner: 'default/db/main', isExclusive: true},
              {id: 2, owner: 'default/db/main', isExclusive: true},
            ],
          },
          {
            id: 1,
            cpus: [
              {id: 1, owner: 'shared pool', isExclusive: false},
              {id: 3, owner: 'shared pool', isExclusive: false},
            ],
          },
        ],
      },
    ],
  },
];

const CHECKS: DoctorAnswer['checks'] = [
  {id: 'swap', title: 'Swap is off', outcome: 'ok', details: []},
  {
    id: 'inotify',
    title: 'Enough inotify instances',
    outcome: 'warning',
    details: ['128'],
    remedy: 'sysctl -a\nsysctl -p',
  },
];

test('a node has its sockets with the owners of CPUs, checks, and its description', async () => {
  const watched = await openFakeUi(browser(), {
    node: {text: 'Kernel: 6.12', topology: SOCKETS},
    doctor: {checks: CHECKS},
  });
  const {page} = watched;
  await goTo(page, '#/node/node%20node-1');
  await seeText(page, '.sockets', 'NUMA node 0 16 GB');
  expect(await page.locator('.cores .owner-0').allTextContents()).toEqual([
    '0 default/db/main',
    '2 default/db/main',
  ]);
  await seeText(page, '.legend', 'shared pool 2 CPUs');
  await seeText(page, 'pre.code', 'Kernel: 6.12');
  const checks = page.locator('.checks li');
  // Each command has a line.
  expect(await checks.locator('.hint').innerText()).toBe('sysctl -a\nsysctl -p');
  expect(await checks.count()).toBe(1);
  await page.getByRole('checkbox').check();
  await checks.nth(1).waitFor();
  await page.getByRole('searchbox', {name: 'Filter the checks'}).fill('swap');
  await checks.nth(1).waitFor({state: 'detached'});
  await seeText(page, '.checks', 'Swap is off');
  await page.locator('h1').click();
  await page.keyboard.press('q');
  await page.locator('.pods').waitFor();
  expectNoFaults(watched);
});

test('the age of a measurement that is not new is shown', async () => {
  const watched = await openFakeUi(browser(), {nodes: [aUiNode({measuredMs: UI_NOW_MS - 12_000})]});
  const {page, server} = watched;
  await seeText(page, '.node-card', 'Measured12s ago');
  server.update({nodes: [aUiNode({measuredMs: UI_NOW_MS + 2000})]});
  await page.locator('.measured').waitFor({state: 'detached'});
  expectNoFaults(watched);
});
