import {PassThrough} from 'node:stream';
import {expect, test} from 'vitest';
import {LiveRegion} from '../../../src/cli/output/live-region.js';
import {Output} from '../../../src/cli/output/output.js';

/** Returns the output of drawings on a terminal that may be resized before each of them. */
function renderDrawings(
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

test('a drawing overwrites the previous one, and erases only what is left of it', () => {
  const text = renderDrawings({columns: 80, lines: ['a', 'b']}, {columns: 80, lines: ['c']});
  expect(text).toBe('\u001B[?25la\u001B[K\nb\u001B[K\n\u001B[J\u001B[2Fc\u001B[K\n\u001B[J\u001B[?25h');
});

test.each(['x'.repeat(10), '\u001B[1mx\u001B[0m'.repeat(10), '漢'.repeat(5)])(
  'nothing is erased behind the full row %j, whose last character the cursor is on',
  (line) => {
    expect(renderDrawings({columns: 10, lines: [line]})).toBe(`\u001B[?25l${line}\n\u001B[J\u001B[?25h`);
  },
);

test('other output is written to erased rows', () => {
  const stream = Object.assign(new PassThrough(), {isTTY: true, columns: 80, rows: 24});
  const screen = new LiveRegion(new Output(stream, 'standard output'));
  screen.draw(['a']);
  stream.read();
  screen.draw(['b'], 'above\n');
  screen.end();
  expect((stream.read() as Buffer).toString()).toMatch(/^\u001B\[1F\u001B\[Jabove\nb\u001B\[K\n\u001B\[J/);
});

test.each([
  ['the same rows', 80, 2],
  ['more rows after it became narrower', 25, 5],
  ['the same rows after it became wider', 200, 2],
  ['the same rows if its width is unknown', 0, 2],
])('lines already on the terminal occupy %s', (_what, columns, rows) => {
  const lines = ['\u001B[1mx\u001B[0m', 'y'.repeat(79)];
  const text = renderDrawings({columns: 80, lines}, {columns, lines: ['z']});
  expect(text).toContain(`\u001B[${rows}Fz`);
});
