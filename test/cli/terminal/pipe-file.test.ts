import {createHash, randomBytes} from 'node:crypto';
import {mkdtemp, open, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {Writable} from 'node:stream';
import {expect, onTestFinished, test} from 'vitest';
import {pipeFile} from '../../../src/cli/terminal/pipe-file.js';
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

test('writes a file in few pieces', async () => {
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
  await pipeFile(await aFile(data), target, new AbortController().signal);
  await until(() => ended);
  expect(pieces).toHaveLength(9);
  expect(digest(Buffer.concat(pieces))).toBe(digest(data));
});

test('reads only one piece ahead of a target that does not take them', async () => {
  const pieces: Buffer[] = [];
  let take = (): void => undefined;
  const target = new Writable({
    write: (piece: Buffer, _encoding, done) => {
      pieces.push(piece);
      take = done;
    },
  });
  const stop = new AbortController();
  const finished = pipeFile(await aFile(Buffer.alloc(8 * MiB)), target, stop.signal);
  await until(() => pieces.length === 1);
  await new Promise((resolve) => setImmediate(resolve));
  expect({pieces: pieces.length, buffered: target.writableLength}).toEqual({pieces: 1, buffered: MiB});
  stop.abort();
  take();
  await finished;
  expect(target.writableEnded).toBe(false);
});
