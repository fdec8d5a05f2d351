import {mkdtemp, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {onTestFinished} from 'vitest';

/** A new directory that is removed when the test has finished. */
export async function temporaryDirectory(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'kcri-test-'));
  onTestFinished(async () => {
    await rm(path, {recursive: true, force: true});
  });
  return path;
}
