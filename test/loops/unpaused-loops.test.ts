import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {findUnpausedLoops} from './unpaused-loops.js';

const SRC = join(import.meta.dirname, '../../src');

/** Folders whose loops run in the daemon. */
const FOLDERS = ['kubelet', 'cli/kubelet', 'kube-api'];

/** Loops that end by themselves, or that wait for something else, and why. */
const EXCEPTIONS: Readonly<Record<string, string>> = {};

test('every loop of the daemon without a bound waits in each turn', () => {
  const found = FOLDERS.flatMap((folder) =>
    readdirSync(join(SRC, folder), {recursive: true, encoding: 'utf8'})
      .filter((name) => name.endsWith('.ts'))
      .flatMap((name) =>
        findUnpausedLoops(readFileSync(join(SRC, folder, name), 'utf8')).map(
          (loop) => `${folder}/${name}: ${loop}`,
        ),
      ),
  );
  expect(found.toSorted()).toEqual(Object.keys(EXCEPTIONS).toSorted());
});
