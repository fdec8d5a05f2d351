import {mkdir, writeFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {runtimeRecordPath} from '../../../src/private-runtime/private-endpoint.js';
import {loadImages} from '../../../src/private-runtime/image/load-images.js';
import {identityOf} from '../../../src/private-runtime/process/process-identity.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';

/** A root directory whose runtime is up, as far as `load` can see, with `ctr` as its client. */
async function aRootDir(ctr: string): Promise<string> {
  const rootDir = await temporaryDirectory();
  const program = join(rootDir, 'ctr');
  await writeFile(program, `#!/bin/sh\n${ctr}\n`, {mode: 0o755});
  await mkdir(dirname(runtimeRecordPath(rootDir)));
  const record = {process: identityOf(process.pid), ctr: program, snapshotter: {value: 'native'}};
  await writeFile(runtimeRecordPath(rootDir), JSON.stringify(record));
  return rootDir;
}

/** A directory with an image layout that lists one image. */
async function aLayout(digest: string): Promise<string> {
  const dir = await temporaryDirectory();
  await writeFile(join(dir, 'index.json'), JSON.stringify({manifests: [{digest}]}));
  return dir;
}

/** Takes every archive and has one image. */
const HAS_ONE = `case "$*" in
  *" import "*) cat >/dev/null ;;
  *) printf 'REF TYPE DIGEST\\nlocalhost/one:1 type sha256:1\\n' ;;
esac`;

async function loaded(rootDir: string, paths: readonly string[], signal?: AbortSignal): Promise<string[]> {
  const names: string[] = [];
  try {
    for await (const name of loadImages({rootDir, paths}, signal ?? new AbortController().signal))
      names.push(name);
  } catch (error) {
    names.push(`error: ${error instanceof Error ? error.message : ''}`);
  }
  return names;
}

describe('loading images', () => {
  test('tells the names of what came before the one that fails', async () => {
    const whole = await aLayout('sha256:1');
    const names = await loaded(await aRootDir(HAS_ONE), [whole, '/nowhere']);
    expect(names).toEqual(['localhost/one:1', 'error: reading "/nowhere": no such file or directory']);
  });

  test('fails when no image comes of an index that lists what is not there', async () => {
    const broken = await aLayout('sha256:missing');
    expect(await loaded(await aRootDir(HAS_ONE), [broken])).toEqual([
      `error: "${broken}" contains no named image`,
    ]);
  });

  test('refuses a docker archive whose images have no names', async () => {
    const dir = await temporaryDirectory();
    await writeFile(join(dir, 'manifest.json'), JSON.stringify([{RepoTags: null}]));
    expect(await loaded(await aRootDir(HAS_ONE), [dir])).toEqual([`error: "${dir}" contains no named image`]);
  });

  test("rejects with an interruption's reason while a directory is being imported", async () => {
    const rootDir = await aRootDir('exec sleep 3600');
    const signal = AbortSignal.timeout(300);
    const names = await loaded(rootDir, [await aLayout('sha256:1')], signal);
    expect(names).toEqual([`error: ${(signal.reason as Error).message}`]);
  });
});
