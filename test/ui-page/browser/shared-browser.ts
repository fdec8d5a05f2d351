import type {Browser, BrowserContextOptions, Page} from 'playwright-core';
import {afterAll, beforeAll, expect, onTestFinished} from 'vitest';
import {FakeUiServer, type FakeUiContent} from '../../fakes/ui/fake-ui-server.js';
import {openPage, startChromium, type WatchedPage} from '../../fakes/ui/chromium.js';

/** Starts a browser before the tests of a file, and closes it after them. */
export function sharedBrowser(): () => Browser {
  let browser: Browser | undefined;
  beforeAll(async () => {
    browser = await startChromium();
  });
  afterAll(async () => {
    await browser?.close();
  });
  return () => browser!;
}

/** Page of a test with its server. After the test the page must be without faults. */
export async function openFakeUi(
  browser: Browser,
  content: Partial<FakeUiContent>,
  options: BrowserContextOptions = {},
): Promise<WatchedPage & {readonly server: FakeUiServer}> {
  const server = await FakeUiServer.start(content);
  const watched = await openPage(browser, server.link, options);
  onTestFinished(async () => {
    await watched.page.context().close();
    await server[Symbol.asyncDispose]();
  });
  await watched.page.getByRole('status').filter({hasText: 'Live'}).waitFor();
  return {...watched, server};
}

/** Waits until an element has a text, and returns it. */
export async function seeText(page: Page, selector: string, text: string | RegExp): Promise<void> {
  await page.locator(selector).filter({hasText: text}).first().waitFor();
}

/** Expects no error of a script and no violation of the content security policy. */
export function expectNoFaults({faults}: WatchedPage): void {
  expect(faults).toEqual([]);
}

/** Shows a view by its address. */
export async function goTo(page: Page, hash: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
}
