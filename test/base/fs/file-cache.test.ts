import {rename, rm, utimes, writeFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {expect, test} from 'vitest';
import {SystemError} from '../../../src/base/errors.js';
import {FileCache, UNCACHED_FILES} from '../../../src/base/fs/file-cache.js';
import {countFileRequests} from '../count-file-requests.js';
import {temporaryDirectory} from '../temporary-directory.js';

/** A cache at a time that is `aheadMs` after the real time, with a file. */
async function aCache(aheadMs: number) {
  const path = join(await temporaryDirectory(), 'file.json');
  await writeFile(path, 'one');
  const cache = new FileCache(() => Date.now() + aheadMs);
  const parsed: string[] = [];
  const read = async (file = path) =>
    await cache.read(file, (text) => {
      parsed.push(text);
      return {text};
    });
  return {path, cache, parsed, read};
}

/** Time after which a change of a file can be seen by its timestamps. */
const SETTLED_MS = 60_000;

test('a file that has not changed is neither read nor parsed again', async () => {
  const {cache, parsed, read} = await aCache(SETTLED_MS);
  const first = await read();
  using requests = countFileRequests();
  cache.startRound();
  expect(await read()).toBe(first);
  cache.startRound();
  expect(await read()).toBe(first);
  expect({parsed, requests: requests.count}).toEqual({parsed: ['one'], requests: 0});
});

test.each<[string, (path: string) => Promise<void>]>([
  [
    'is written',
    async (path) => {
      await writeFile(path, 'two');
    },
  ],
  [
    'is replaced by one with the same size and modification time',
    async (path) => {
      await writeFile(`${path}.new`, 'two');
      await utimes(`${path}.new`, 1, 1);
      await rename(`${path}.new`, path);
    },
  ],
])('a file that %s is read again', async (_, change) => {
  const {path, parsed, read} = await aCache(SETTLED_MS);
  await utimes(path, 1, 1);
  await read();
  await change(path);
  expect(await read()).toEqual({text: 'two'});
  await read();
  expect(parsed).toEqual(['one', 'two']);
});

test.each([0, -SETTLED_MS])(
  'a file that changed lately is read each time, at a time %i ms after its change',
  async (aheadMs) => {
    const {parsed, read} = await aCache(aheadMs);
    await read();
    await read();
    expect(parsed).toEqual(['one', 'one']);
  },
);

test('a file that was not read in the last round is forgotten', async () => {
  const {cache, parsed, read} = await aCache(SETTLED_MS);
  await read();
  cache.startRound();
  cache.startRound();
  await read();
  expect(parsed).toEqual(['one', 'one']);
});

test('a file that does not exist any more is undefined, and read when it exists again', async () => {
  const {path, parsed, read} = await aCache(SETTLED_MS);
  await read();
  await rm(path);
  expect(await read()).toBeUndefined();
  await writeFile(path, 'two');
  expect(await read()).toEqual({text: 'two'});
  expect(parsed).toEqual(['one', 'two']);
});

test('a text that cannot be parsed is an error each time', async () => {
  const {path, cache} = await aCache(SETTLED_MS);
  const fail = (): never => {
    throw new TypeError('not JSON');
  };
  await expect(cache.read(path, fail)).rejects.toThrow('not JSON');
  await expect(cache.read(path, fail)).rejects.toThrow('not JSON');
});

test.each([
  ['with', new FileCache(() => 0)],
  ['without', UNCACHED_FILES],
])('%s a cache, a file that cannot be read is an error with its path', async (_, files) => {
  const directory = await temporaryDirectory();
  const reading = files.read(directory, (text) => text);
  await expect(reading).rejects.toThrow(SystemError);
  await expect(reading).rejects.toThrow(`reading "${directory}": `);
});

test('a directory is listed again only when a file of it was created, renamed or removed', async () => {
  const {path, cache, read} = await aCache(SETTLED_MS);
  const directory = dirname(path);
  let listed = 0;
  const list = async () =>
    await cache.readDirectory(directory, async () => {
      listed += 1;
      return [await read()];
    });
  const first = await list();
  using requests = countFileRequests();
  for (let round = 0; round < 3; round += 1) {
    cache.startRound();
    expect(await list()).toBe(first);
  }
  expect({listed, requests: requests.count}).toEqual({listed: 1, requests: 0});
  await writeFile(join(directory, 'new.json'), 'new');
  cache.startRound();
  expect(await list()).not.toBe(first);
});

test('the files of a directory that has not changed are kept', async () => {
  const {path, cache, parsed, read} = await aCache(SETTLED_MS);
  const list = async () => await cache.readDirectory(dirname(path), read);
  await list();
  for (let round = 0; round < 3; round += 1) {
    cache.startRound();
    await list();
  }
  await read();
  expect(parsed).toEqual(['one']);
});

test('a directory that changed lately, or does not exist, is listed each time', async () => {
  const {path, cache} = await aCache(0);
  let listed = 0;
  const list = async () => await Promise.resolve((listed += 1));
  for (const directory of [dirname(path), join(dirname(path), 'none')])
    for (let round = 0; round < 2; round += 1) await cache.readDirectory(directory, list);
  expect(listed).toBe(4);
});

test('a file of a directory that is changed in place is found after half a minute', async () => {
  const directory = await temporaryDirectory();
  const path = join(directory, 'a');
  await writeFile(path, 'one');
  let nowMs = Date.parse('2100-01-01');
  const cache = new FileCache(() => nowMs);
  let lists = 0;
  const list = async (): Promise<string | undefined> =>
    await cache.readDirectory(directory, async () => {
      lists += 1;
      return await cache.read(path, (text) => text);
    });
  expect([await list(), await list(), lists]).toEqual(['one', 'one', 1]);
  await writeFile(path, 'changed');
  nowMs += 29_000;
  expect([await list(), lists]).toEqual(['one', 1]);
  nowMs += 2000;
  expect([await list(), await list(), lists]).toEqual(['changed', 'changed', 2]);
});
