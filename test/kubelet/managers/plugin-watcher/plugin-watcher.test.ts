import {mkdir} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {startPluginWatcher} from '../../../../src/kubelet/managers/plugin-watcher/plugin-watcher.js';
import {fakeLogger} from '../../../base/fake-logger.js';
import {mode, withUmask} from '../../../base/file-mode.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import {FakeClock} from '../../../fakes/fake-clock.js';
import {GOLDEN_NODE} from '../../../golden/golden-cases.js';

/** Starts a plugin watcher without handlers until the end of the test. */
async function start(rootDir: string): Promise<void> {
  const stop = new AbortController();
  onTestFinished(() => {
    stop.abort();
  });
  const fail = (...line: unknown[]): never => {
    throw new Error(JSON.stringify(line));
  };
  const services = {
    node: {...GOLDEN_NODE, rootDir},
    clock: new FakeClock(),
    logger: fakeLogger({info: fail, error: fail}),
    plugins: [],
  };
  await startPluginWatcher(services, stop.signal);
}

test('a directory of sockets that only the watcher creates has the mode of a kubelet', async () => {
  withUmask(0);
  const rootDir = await temporaryDirectory();
  await start(rootDir);
  expect(await mode(join(rootDir, 'plugins_registry'))).toBe(0o750);
});

test('the mode of an existing directory of sockets is kept', async () => {
  withUmask(0);
  const rootDir = await temporaryDirectory();
  await mkdir(join(rootDir, 'plugins_registry'), {mode: 0o711});
  await start(rootDir);
  expect(await mode(join(rootDir, 'plugins_registry'))).toBe(0o711);
});
