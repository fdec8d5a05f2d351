import {expect, test} from 'vitest';
import {JsonBuffer} from '../../../src/recording/lines/json-buffer.js';

test.each([1, 5_000, 200_000, 600_000])('a text of %i bytes that was taken stays as it is', (length) => {
  const buffer = new JsonBuffer();
  buffer.text('a'.repeat(length));
  const taken = buffer.take();
  buffer.text('b'.repeat(length));
  expect(taken.toString()).toBe('a'.repeat(length));
  expect(buffer.take().toString()).toBe('b'.repeat(length));
});
