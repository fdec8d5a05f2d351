import {mkdtemp, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {onTestFinished} from 'vitest';

/** Creates a directory that is removed after the test. */
export async function temporaryDirectory(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'kcri-test-'));
  onTestFinished(async () => {
    await rm(path, {recursive: true, force: true});
  });
  return path;
}
