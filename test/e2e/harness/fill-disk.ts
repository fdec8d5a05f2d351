import {createWriteStream} from 'node:fs';
import {Readable} from 'node:stream';
import {pipeline} from 'node:stream/promises';
import {expect} from 'vitest';

const BLOCK = Buffer.alloc(64 * 1024);

/** Writes to a file until no space is left. */
export async function fillDisk(path: string): Promise<void> {
  const endless = Readable.from(
    (function* (): Generator<Buffer> {
      for (;;) yield BLOCK;
    })(),
  );
  await expect(pipeline(endless, createWriteStream(path))).rejects.toThrow('ENOSPC');
}
