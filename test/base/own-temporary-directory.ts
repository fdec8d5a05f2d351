import {mkdtemp, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, vi} from 'vitest';

/** Gives the tests of a file a directory of their own for temporary files, so that other tests leave nothing in it. */
export function useOwnTemporaryDirectory(): void {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'kcri-test-'));
    vi.stubEnv('TMPDIR', directory);
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await rm(directory, {recursive: true});
  });
}
