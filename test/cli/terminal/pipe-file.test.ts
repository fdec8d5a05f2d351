import {createHash, randomBytes} from 'node:crypto';
import {fstatSync} from 'node:fs';
import {mkdtemp, open, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {Writable} from 'node:stream';
import {expect, onTestFinished, test} from 'vitest';
import {createDirectReads, pipeFile} from '../../../src/cli/terminal/pipe-file.js';
import {until} from '../../base/until.js';

const MiB = 1024 * 1024;

async function aFile(data: Buffer): Promise<number> {
  const directory = await mkdtemp(join(tmpdir(), 'kcri-pipe-'));
  await writeFile(join(directory, 'data'), data);
  const file = await open(join(directory, 'data'));
  onTestFinished(async () => {
    await file.close();
    await rm(directory, {recursive: true});
  });
  return file.fd;
}

const digest = (data: Buffer): string => createHash('sha256').update(data).digest('hex');

const WAYS = [
  ['threads', () => false],
  ['no threads', () => true],
] as const;

test.each(WAYS)('writes a file in few pieces with %s', async (_, isDirect) => {
  const data = randomBytes(8 * MiB + 1);
  const pieces: Buffer[] = [];
  let ended = false;
  const target = new Writable({
    // Takes the piece later, when a buffer that is reused too early has other contents.
    write: (piece: Buffer, _encoding, done) => {
      setImmediate(() => {
        pieces.push(Buffer.from(piece));
        done();
      });
    },
    final: (done) => {
      ended = true;
      done();
    },
  });
  await pipeFile(await aFile(data), target, {until: new AbortController().signal, isDirect});
  await until(() => ended);
  expect(pieces).toHaveLength(9);
  expect(digest(Buffer.concat(pieces))).toBe(digest(data));
});

test.each(WAYS)(
  'reads only one piece ahead of a target that does not take them, with %s',
  async (_, isDirect) => {
    const pieces: Buffer[] = [];
    let take = (): void => undefined;
    const target = new Writable({
      write: (piece: Buffer, _encoding, done) => {
        pieces.push(piece);
        take = done;
      },
    });
    const stop = new AbortController();
    const finished = pipeFile(await aFile(Buffer.alloc(8 * MiB)), target, {until: stop.signal, isDirect});
    await until(() => pieces.length === 1);
    await new Promise((resolve) => setImmediate(resolve));
    expect({pieces: pieces.length, buffered: target.writableLength}).toEqual({pieces: 1, buffered: MiB});
    stop.abort();
    take();
    await finished;
    expect(target.writableEnded).toBe(false);
  },
);

const [FILE, DEVICE] = [true, false].map((isFile) => () => isFile) as [() => boolean, () => boolean];

test.each([
  ['a file', {isFile: FILE, size: 3, rdev: 0}, [true, true, true, false]],
  ['an empty file, or one of the kernel that may wait', {isFile: FILE, size: 0, rdev: 0}, [false, false]],
  ['/dev/null', {isFile: DEVICE, size: 0, rdev: 0x103}, [true, true]],
  ['/dev/kmsg, which waits', {isFile: DEVICE, size: 0, rdev: 0x10b}, [false, false]],
])('reads of %s need no thread while they do not wait', (_, file, expected) => {
  const isDirect = createDirectReads(file, (calls) => () => (calls -= 1) >= 0);
  expect(expected.map(() => isDirect())).toEqual(expected);
});

test('the second read of a short file finds its end without a thread', async () => {
  const reads: boolean[] = [];
  const fd = await aFile(Buffer.from('hi\n'));
  const isDirect = createDirectReads(fstatSync(fd), (calls) => () => (calls -= 1) >= 0);
  const target = new Writable({
    write: (_piece, _encoding, done) => {
      done();
    },
  });
  const noted = (): boolean => {
    reads.push(isDirect());
    return reads.at(-1) ?? false;
  };
  await pipeFile(fd, target, {until: new AbortController().signal, isDirect: noted});
  expect({reads, ended: target.writableEnded}).toEqual({reads: [true, true], ended: true});
});
