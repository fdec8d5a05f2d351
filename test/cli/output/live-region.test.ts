import {PassThrough} from 'node:stream';
import {expect, test} from 'vitest';
import {LiveRegion} from '../../../src/cli/output/live-region.js';
import {Output} from '../../../src/cli/output/output.js';

/** What is written for drawings on a terminal whose width is another for each. */
function drawn(
  ...drawings: readonly {readonly columns: number; readonly lines: readonly string[]}[]
): string {
  const stream = Object.assign(new PassThrough(), {isTTY: true, columns: 80, rows: 24});
  const screen = new LiveRegion(new Output(stream, 'standard output'));
  for (const {columns, lines} of drawings) {
    stream.columns = columns;
    screen.draw(lines);
  }
  screen.end();
  return (stream.read() as Buffer).toString();
}

test('a drawing goes over the one before', () => {
  const text = drawn({columns: 80, lines: ['a', 'b']}, {columns: 80, lines: ['c']});
  expect(text).toBe('\u001B[?25l\u001B[Ja\nb\n\u001B[2F\u001B[Jc\n\u001B[?25h');
});

test.each([
  ['as many as they were', 80, 2],
  ['more in one that has become narrower', 25, 5],
  ['no more in one that has become wider', 200, 2],
  ['as many as they were in one that says no width any more', 0, 2],
])('lines that are already on a terminal are %s', (_what, columns, rows) => {
  const lines = ['\u001B[1mx\u001B[0m', 'y'.repeat(79)];
  const text = drawn({columns: 80, lines}, {columns, lines: ['z']});
  expect(text).toContain(`\u001B[${rows}F\u001B[Jz`);
});
