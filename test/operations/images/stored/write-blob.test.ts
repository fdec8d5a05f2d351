import {expect, test} from 'vitest';
import type {ContainerdServices} from '../../../../src/containerd/connect-containerd.js';
import {CriError} from '../../../../src/cri/index.js';
import {writeBlob} from '../../../../src/operations/images/stored/write-blob.js';

/** Content store that has the blob: it ends the call at the first request, and the client has begun to read the next. */
function storeWithBlob(): ContainerdServices['content'] {
  const write = async function* (requests: AsyncIterable<unknown>): AsyncGenerator<never> {
    const sent = requests[Symbol.asyncIterator]();
    await sent.next();
    void sent.next();
    yield* [];
    throw new CriError({
      endpoint: 'unix:///x',
      method: 'Write',
      grpcCode: 'ALREADY_EXISTS',
      details: 'content sha256:1: already exists',
    });
  };
  return {write} as unknown as ContainerdServices['content'];
}

test('the chunks of a blob that exists are read no further after the result', async () => {
  const read: number[] = [];
  async function* chunks(): AsyncGenerator<Buffer, void, undefined> {
    for (let index = 0; index < 8; index++) {
      await new Promise((resolve) => setImmediate(resolve));
      read.push(index);
      yield Buffer.alloc(1024 * 1024);
    }
  }
  const blob = {ref: 'x', digest: 'sha256:1', size: 8 * 1024 * 1024, chunks: chunks()};
  expect(await writeBlob(storeWithBlob(), blob, new AbortController().signal)).toBe('sha256:1');
  const atResult = read.length;
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  expect(read.length).toBe(atResult);
});
