import {expect, onTestFinished, test} from 'vitest';
import {until} from '../../base/until.js';
import {aManifest, createTestbed} from '../../commands/command-testbed.js';
import {startUi} from '../../commands/ui/ui-testbed.js';
import {FakeRuntime} from '../../fakes/fake-runtime.js';
import {aContainer, aSandbox} from '../../fakes/runtime-builders.js';
import {FakeStreamingServer} from '../../fakes/streaming/fake-streaming-server.js';
import {openPage} from '../../fakes/ui/chromium.js';
import {expectNoFaults, seeText, sharedBrowser} from './shared-browser.js';

const browser = sharedBrowser();

/** Starts `kcri ui` for a pod that kcri has started, and opens its page. */
async function openSynced(...flags: readonly string[]) {
  const testbed = await createTestbed();
  const {exitCode} = await testbed.run(['sync', '-'], {stdin: aManifest()});
  expect(exitCode).toBe(0);
  const ui = await startUi(['--root-dir', testbed.rootDir, 'ui', ...flags], {
    endpoint: testbed.runtime.endpoint,
  });
  const watched = await openPage(browser(), ui.page.link);
  onTestFinished(async () => {
    await watched.page.context().close();
  });
  await seeText(watched.page, '.pods td', 'default/web');
  return {testbed, ui, ...watched};
}

test('the page shows what kcri ui finds, in every view', async () => {
  const watched = await openSynced();
  const {page, testbed} = watched;
  await testbed.run(['sync', '-'], {stdin: aManifest({name: 'api'})});
  await seeText(page, '.pods tr:has-text("api") td.state', 'Running');
  await page.getByRole('link', {name: 'default/web'}).click();
  await seeText(page, '.card.why', 'nothing is wrong');
  await seeText(page, 'pre.code', /Name: +web/);
  await page.getByRole('tab', {name: 'Events'}).click();
  await seeText(page, '.events', 'Started');
  await page.getByRole('tab', {name: 'Timeline'}).click();
  await until(async () => Number(await page.evaluate('document.images[0]?.naturalWidth ?? 0')) > 0);
  await page.getByRole('tab', {name: 'Manifest'}).click();
  await seeText(page, '.manifest .added', 'dnsPolicy: ClusterFirst');
  await page.getByRole('tab', {name: 'Shell'}).click();
  await seeText(page, '.tab-panel', '--allow=exec');
  await page.locator('.facts a').click();
  await seeText(page, '.sockets', 'Socket 0');
  await seeText(page, 'pre.code', 'Kernel Version');
  await page.getByRole('checkbox').check();
  await page.locator('.checks li').first().waitFor();
  expectNoFaults(watched);
});

test('a pod is deleted from the page, and the end of kcri ui is explained', async () => {
  const {page, ui, testbed} = await openSynced('--allow=delete');
  await page.keyboard.press('x');
  await page.locator('dialog').getByRole('button', {name: 'Delete'}).click();
  await seeText(page, '.notice', 'Deleted default/web');
  await seeText(page, '.pods td', 'No pods');
  expect(testbed.runtime.sandboxes).toEqual([]);
  await ui.interrupt();
  await seeText(page, '.banner', 'Not live');
});

test('a shell is used through kcri ui', async () => {
  await using streaming = await FakeStreamingServer.start({
    handleSession: async (session) => {
      session.stream('stdout').send('$ ');
      await session.stream('stdin').waitUntil((text) => text.includes('exit\r'));
      session.stream('stdout').send('bye');
      session.sendExitCode(3);
    },
  });
  const sandbox = aSandbox({name: 'web'});
  const runtime = await FakeRuntime.start({
    streamingUrl: streaming.url,
    sandboxes: [sandbox],
    containers: [aContainer({sandbox, name: 'main'})],
  });
  onTestFinished(() => runtime.stop());
  const ui = await startUi(['ui', '--allow=exec'], {endpoint: runtime.endpoint});
  const watched = await openPage(browser(), ui.page.link);
  const {page} = watched;
  onTestFinished(async () => {
    await page.context().close();
  });
  await page.locator('.pods td a').waitFor();
  await page.keyboard.press('s');
  await seeText(page, '.xterm-rows', '$');
  await page.keyboard.type('exit\n');
  await seeText(page, '.xterm-rows', 'bye');
  await seeText(page, '[role="status"]', 'The shell ended with exit code 3');
  expectNoFaults(watched);
});
