import {renameSync} from 'node:fs';
import {mkdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {systemClock, type Clock} from '../../../src/base/clock.js';
import {FileSource} from '../../../src/kubelet/sources/file-source.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {until} from '../../base/until.js';
import {isAtWork, type FakeClock} from '../../fakes/fake-clock.js';
import {prepareOnNode, runSource, type RunningSource} from './run-source.js';

/** Interval so long that no test reaches it. */
export const NEVER_MS = 3_600_000;

interface FollowOptions {
  readonly clock?: Clock;
  readonly checkFrequencyMs?: number;
}

/** Follows a manifest directory or file, by default without periodic lists. */
export function followPath(
  path: string,
  {clock = systemClock, checkFrequencyMs = NEVER_MS}: FollowOptions = {},
): RunningSource {
  return runSource(
    new FileSource({
      path,
      checkFrequencyMs: {current: checkFrequencyMs},
      clock,
      acceptsWorkloads: false,
      prepare: prepareOnNode,
    }),
  );
}

/** Temporary directory of manifests. */
export interface ManifestDirectory {
  readonly path: string;
  readonly write: (name: string, text: string) => Promise<void>;
  /** Puts another directory in its place, synchronously, so that a source of this process does not look in between. */
  readonly replaceBy: (other: string) => void;
}

/** Creates a manifest directory, which is removed after the test. */
export async function aDirectory(files: Readonly<Record<string, string>> = {}): Promise<ManifestDirectory> {
  const path = join(await temporaryDirectory(), 'manifests');
  await mkdir(path);
  const write = async (name: string, text: string): Promise<void> => {
    await writeFile(join(path, name), text);
  };
  for (const [name, text] of Object.entries(files)) await write(name, text);
  const replaceBy = (other: string): void => {
    renameSync(path, `${path}.old`);
    renameSync(other, path);
  };
  return {path, write, replaceBy};
}

/** Advances the clock in small steps, each after all file operations, until the condition is true or `ms` have passed. */
export async function advanceUntil(clock: FakeClock, ms: number, condition: () => boolean): Promise<void> {
  const end = clock.now() + ms;
  while (clock.now() < end && !condition()) {
    // Changes of watched files arrive between the turns of the event loop.
    await systemClock.sleep(2);
    await until(() => !isAtWork());
    await clock.advance(10);
  }
}

/** Advances the clock past `count` periodic lists. */
export async function advanceLists(clock: FakeClock, count: number): Promise<void> {
  for (let list = 0; list < count; list += 1) {
    await advanceUntil(clock, 500, () => false);
    await clock.advance(20_000);
    await advanceUntil(clock, 50, () => false);
  }
}
