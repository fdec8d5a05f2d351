import {text} from 'node:stream/consumers';
import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {DetachFilter} from '../../../src/features/sessions/detach-filter.js';
import {DETACH_KEYS, parseDetachKeys} from '../../../src/features/sessions/detach-keys.js';

describe('parseDetachKeys', () => {
  test.each([
    [DETACH_KEYS, [16, 17]],
    ['ctrl-a', [1]],
    ['ctrl-@,x,ctrl-_', [0, 120, 31]],
    ['CTRL-X,x', [24, 120]],
    ['ctrl-[', [27]],
    ['', []],
  ])('parses "%s"', (keys, bytes) => {
    expect(parseDetachKeys(keys)).toEqual(bytes);
  });

  test.each(['ctrl-1', 'ctrl-', 'ab', 'ctrl-p,', 'é'])('rejects "%s"', (keys) => {
    expect(() => parseDetachKeys(keys)).toThrow('is not a key');
  });
});

/** Returns the bytes that pass the filter, and whether it detached. */
async function typed(keys: readonly number[], chunks: readonly (string | Buffer)[]) {
  let detached = false;
  const filter = new DetachFilter(keys, () => (detached = true));
  for (const piece of chunks) filter.write(piece);
  filter.end();
  return {passed: await text(filter), detached};
}

describe('DetachFilter', () => {
  const KEYS = [16, 17];

  test.each([
    [['ls\n'], 'ls\n', false],
    [['ls\x10\x11more'], 'ls', true],
    [['ls\x10', '\x11', 'more'], 'ls', true],
    [['\x10', 'x\x10'], '\x10x\x10', false],
    [['\x10\x10\x11'], '\x10', true],
    [['\x11\x10'], '\x11\x10', false],
  ])('filters %j', async (chunks, passed, detached) => {
    expect(await typed(KEYS, chunks)).toEqual({passed, detached});
  });

  test('detects keys with repetitions at any position', async () => {
    const keys = [...Buffer.from('aab')];
    expect(await typed(keys, ['aaab'])).toEqual({passed: 'a', detached: true});
    expect(await typed(keys, ['aac'])).toEqual({passed: 'aac', detached: false});
  });

  test('passes data without the keys, however it is split', async () => {
    const key = fc.constantFrom('\x10', 'x', 'y');
    await fc.assert(
      fc.asyncProperty(fc.array(key), fc.array(key), async (first, second) => {
        const chunks = [first.join(''), second.join('')];
        expect(await typed(KEYS, chunks)).toEqual({passed: chunks.join(''), detached: false});
      }),
    );
  });
});
