import {mkdtemp, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {onTestFinished} from 'vitest';

/** Creates a directory that is removed after the test. */
export async function temporaryDirectory(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'kcri-test-'));
  onTestFinished(async () => {
    // Events are written in the background, so a file may appear during the removal.
    await rm(path, {recursive: true, force: true, maxRetries: 20});
  });
  return path;
}
