import {mkdir, writeFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {runtimeRecordPath} from '../../../src/private-runtime/private-endpoint.js';
import {loadImages} from '../../../src/private-runtime/image/load-images.js';
import {identityOf} from '../../../src/private-runtime/process/running-process.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';

/** Creates a root directory that looks to `load` like that of a running runtime, with `ctr` as its client. */
async function aRootDir(ctr: string): Promise<string> {
  const rootDir = await temporaryDirectory();
  const program = join(rootDir, 'ctr');
  await writeFile(program, `#!/bin/sh\n${ctr}\n`, {mode: 0o755});
  await mkdir(dirname(runtimeRecordPath(rootDir)));
  const record = {process: identityOf(process.pid), ctr: program, snapshotter: {value: 'native'}};
  await writeFile(runtimeRecordPath(rootDir), JSON.stringify(record));
  return rootDir;
}

/** Creates an image layout with one image. */
async function aLayout(digest: string): Promise<string> {
  const dir = await temporaryDirectory();
  await writeFile(join(dir, 'index.json'), JSON.stringify({manifests: [{digest}]}));
  return dir;
}

/** ctr script that accepts every archive and reports one image. */
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
  test('returns the names of the images loaded before a failure', async () => {
    const whole = await aLayout('sha256:1');
    const names = await loaded(await aRootDir(HAS_ONE), [whole, '/nowhere']);
    expect(names).toEqual(['localhost/one:1', 'error: reading "/nowhere": no such file or directory']);
  });

  test('fails if the blobs of an index are missing', async () => {
    const broken = await aLayout('sha256:missing');
    expect(await loaded(await aRootDir(HAS_ONE), [broken])).toEqual([
      `error: "${broken}" contains no named image`,
    ]);
  });

  test('rejects a docker archive without image names', async () => {
    const dir = await temporaryDirectory();
    await writeFile(join(dir, 'manifest.json'), JSON.stringify([{RepoTags: null}]));
    expect(await loaded(await aRootDir(HAS_ONE), [dir])).toEqual([`error: "${dir}" contains no named image`]);
  });

  test('rejects with the abort reason during the import of a directory', async () => {
    const rootDir = await aRootDir('exec sleep 3600');
    const signal = AbortSignal.timeout(300);
    const names = await loaded(rootDir, [await aLayout('sha256:1')], signal);
    expect(names).toEqual([`error: ${(signal.reason as Error).message}`]);
  });
});
