import {expect, test} from 'vitest';
import {MAX_LINES} from '../../../src/ui-page/model/log-lines.js';
import {readLog, type LogTarget} from '../../../src/ui-page/net/read-log.js';

/** Reads a log that is lost after its text, and returns what became of it. */
async function readLost(text: string, opened: LogTarget['gate']['opened']): Promise<readonly string[]> {
  const events: string[] = [];
  let isFirst = true;
  const stream = new ReadableStream<Uint8Array>(
    {
      pull: (controller) => {
        if (isFirst) controller.enqueue(Buffer.from(text));
        else controller.error(new Error('lost'));
        isFirst = false;
      },
    },
    {highWaterMark: 0},
  );
  await readLog(async () => Promise.resolve(stream), {
    signal: new AbortController().signal,
    gate: {opened},
    append: (added) => events.push(`${added.split('\n').length - 1} lines`),
    end: (error) => events.push(`end: ${error?.message}`),
    readAgain: () => events.push('again'),
  });
  return events;
}

test('a log whose connection is lost while nobody follows is read again', async () => {
  expect(await readLost('x\n'.repeat(MAX_LINES), async () => true)).toEqual([`${MAX_LINES} lines`, 'again']);
});

test.each([
  ['that is followed', 'x\n'.repeat(MAX_LINES), MAX_LINES],
  ['with few lines', 'x\n', 1],
])('a log %s ends with the error of its connection', async (_title, text, lines) => {
  expect(await readLost(text, async () => false)).toEqual([`${lines} lines`, 'end: lost']);
});
