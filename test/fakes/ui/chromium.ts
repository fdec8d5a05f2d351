import {chromium, type Browser, type BrowserContextOptions, type Page} from 'playwright-core';

/** Flags for a browser of root without a display, which asks no server of its maker for anything. */
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Starts Debian's Chromium. The caller closes it. */
export async function startChromium(): Promise<Browser> {
  return await chromium.launch({executablePath: '/usr/bin/chromium', args: FLAGS});
}

/** Timeout of what a page waits for: it only ends tests that would never end. */
const TIMEOUT_MS = 300_000;

/** Page of a browser, and everything that went wrong on it. */
export interface WatchedPage {
  readonly page: Page;
  /** Errors of scripts and violations of the content security policy. */
  readonly faults: readonly string[];
}

/** Opens a page in a context of its own, which is closed with the browser. */
export async function openPage(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const context = await browser.newContext({viewport: {width: 1360, height: 850}, ...options});
  context.setDefaultTimeout(TIMEOUT_MS);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') faults.push(message.text());
  });
  await page.goto(url);
  return {page, faults};
}
