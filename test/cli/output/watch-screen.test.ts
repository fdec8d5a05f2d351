import {expect, test} from 'vitest';
import {Output} from '../../../src/cli/output/output.js';
import {TerminalScreen} from '../../../src/cli/output/watch-screen.js';
import {displayWidth} from '../../../src/format/display-width.js';
import {FakeClock} from '../../fakes/fake-clock.js';
import {FakeTerminal} from '../terminal/fake-terminal.js';

/** Returns the lines on a terminal after frames of the same content. */
function linesAfterFrames(
  terminal: FakeTerminal,
  frame: {readonly text: string; readonly warnings: readonly string[]},
): readonly string[] {
  const output = new Output(terminal.stream, 'standard output');
  const screen = new TerminalScreen(output, {clock: new FakeClock(), env: {LANG: 'C.UTF-8'}});
  for (let count = 0; count < 3; count += 1) screen.show(frame);
  screen.end();
  return terminal.lines.slice(0, -1);
}

test.each([2, 3, 5])('more warnings than a terminal of %i rows has leave a line of the table', (rows) => {
  const terminal = new FakeTerminal(20, rows);
  const warnings = Array.from({length: 9}, (_, index) => `node-${index} is unavailable`);
  const lines = linesAfterFrames(terminal, {text: 'POD\nweb\n', warnings});
  expect(terminal.tallest).toBeLessThanOrEqual(rows);
  expect(lines).toHaveLength(rows - 1);
  expect(lines[0]).toBe('… 3 more');
  expect(lines.slice(1)).toEqual(
    warnings.slice(warnings.length - rows + 2).map((warning) => `warning: ${warning}`.slice(0, 20)),
  );
});

test('lines with wide characters are cut to the width of the terminal', () => {
  const lines = linesAfterFrames(new FakeTerminal(9, 24), {
    text: `${'漢'.repeat(9)}\ncafe\u0301\n`,
    warnings: [],
  });
  expect(lines.slice(1)).toEqual(['漢'.repeat(4), 'café']);
  expect(Math.max(...lines.map(displayWidth))).toBeLessThanOrEqual(9);
});
