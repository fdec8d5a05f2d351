import {mkdir, readdir, rm} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, onTestFinished, test, vi} from 'vitest';
import {aManifest, createTestbed} from '../command-testbed.js';
import {startUi, UI_CLOCK, type LiveLine} from './ui-testbed.js';

/** A clock at which no file has changed lately. */
const LATER = {...UI_CLOCK, now: () => UI_CLOCK.now() + 60_000};

/** Starts `kcri ui` for pods that kcri has started, and opens its live stream. */
async function openLive(names: readonly string[]) {
  const testbed = await createTestbed();
  for (const name of names) await testbed.run(['sync', '-'], {stdin: aManifest({name})});
  const {page} = await startUi(['--root-dir', testbed.rootDir, 'ui'], {
    endpoint: testbed.runtime.endpoint,
    clock: LATER,
  });
  await page.signIn();
  const live = await page.live();
  await live.until(() => names.every((name) => live.pod(name)?.state === 'Running'));
  /** Waits until samples that began after now were sent. */
  const nextSamples = async (): Promise<void> => {
    const before = live.messages.length;
    await live.until(() => live.messages.length >= before + 4);
  };
  return {testbed, live, nextSamples};
}

test('samples read files of pods only when they have changed', async () => {
  const {testbed, live, nextSamples} = await openLive(['web', 'api']);
  await nextSamples();
  const parse = vi.spyOn(JSON, 'parse');
  onTestFinished(() => {
    parse.mockRestore();
  });
  const parsed = (): readonly string[] =>
    parse.mock.calls.map(([text]) => text).filter((text) => text.includes('"version"'));
  await nextSamples();
  expect(parsed()).toEqual([]);
  await testbed.run(['delete', 'pod', 'api']);
  await live.until(() => live.pod('api') === undefined);
  parse.mockClear();
  await nextSamples();
  expect(parsed()).toEqual([]);
});

test('samples read a pod of kcri from the runtime only when it has changed', async () => {
  const {testbed, live, nextSamples} = await openLive(['web', 'api']);
  const {runtime} = testbed;
  const statusCalls = (): number =>
    runtime.callsTo('PodSandboxStatus').length + runtime.callsTo('ContainerStatus').length;
  await nextSamples();
  const before = statusCalls();
  await nextSamples();
  expect(statusCalls()).toBe(before);
  runtime.exitContainer(runtime.containers[0]?.id ?? '', 3);
  await live.until(() => [...live.pods.values()].some(({containers}) => containers[0]?.state === 'Error'));
  // Of the pod that has changed, its sandbox and its container.
  expect(statusCalls()).toBe(before + 2);
});

test('samples of the page read no events', async () => {
  const {testbed, live, nextSamples} = await openLive(['web']);
  const directory = join(testbed.rootDir, 'kcri/events');
  const [name = ''] = await readdir(directory);
  await rm(join(directory, name));
  await mkdir(join(directory, name)); // It cannot be read as a file.
  await nextSamples();
  expect(live.last?.nodes[0]?.failure).toBeUndefined();
});

test('a sample in which nothing changed sends no pod, and one in which usage changed only numbers', async () => {
  const {testbed, live, nextSamples} = await openLive(['web', 'api']);
  await live.until(() => live.lines.some((line) => /"usage":\{"pod [^"]+":\[5,/.test(line)));
  await nextSamples();
  const from = live.lines.length;
  await nextSamples();
  const parts = live.lines.slice(from).flatMap((line) => Object.keys(JSON.parse(line) as object));
  // The node itself is measured each time.
  expect(parts.filter((part) => !['kind', 'nowMs', 'nodes'].includes(part))).toEqual([]);
  const [container] = testbed.runtime.containers;
  container!.startedAt -= 10_000_000_000n;
  await live.until(() => live.lines.slice(from).some((line) => line.includes('"usage"')));
  expect(live.lines.slice(from).some((line) => line.includes('"pods"'))).toBe(false);
  const usage = live.lines
    .slice(from)
    .flatMap((line) => Object.keys((JSON.parse(line) as LiveLine).usage ?? {}));
  expect(new Set(usage).size).toBe(1);
});
