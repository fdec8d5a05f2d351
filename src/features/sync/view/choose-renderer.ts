import type {Clock} from '../../../base/clock.js';
import {escapeControls, escapeControlsAsJson} from '../../../format/escape-controls.js';
import type {CliContext} from '../../../cli/process/context.js';
import type {Output} from '../../../cli/output/output.js';
import {canMoveCursor, usesUtf8} from '../../../cli/output/terminal-features.js';
import type {SyncRenderer} from './sync-renderer.js';

/** Options that select a renderer. */
export interface RendererChoice {
  readonly format: 'text' | 'json';
  /** True to show failures that will be retried as they happen. The command reports a final failure as its error. */
  readonly warnings: boolean;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly colors: boolean;
  readonly env: CliContext['env'];
  readonly clock: Clock;
}

/** Creates a live tree for a terminal, plain lines for a pipe or a terminal that cannot redraw, or JSON lines on request. */
export async function chooseRenderer(choice: RendererChoice): Promise<SyncRenderer> {
  const {format, warnings, stdout, stderr, colors, env, clock} = choice;
  const out = (line: string): void => {
    stdout.write(`${stdout.isTerminal ? escapeControlsAsJson(line) : line}\n`);
  };
  if (format === 'json') {
    const {JsonLinesRenderer} = await import('./json-lines-renderer.js');
    return new JsonLinesRenderer(out, clock);
  }
  if (stdout.isTerminal && canMoveCursor(env)) {
    const [{LiveTreeRenderer}, {ASCII_TREE, UNICODE_TREE}, {Chalk}] = await Promise.all([
      import('./live-tree-renderer.js'),
      import('./tree-lines.js'),
      import('chalk'),
    ]);
    const glyphs = usesUtf8(env) ? UNICODE_TREE : ASCII_TREE;
    const chalk = new Chalk({level: colors ? 1 : 0});
    return new LiveTreeRenderer({output: stdout, chalk, glyphs, clock, warnings});
  }
  const {LineRenderer} = await import('./line-renderer.js');
  const err = (line: string): void => {
    stderr.write(`${escapeControls(line)}\n`);
  };
  return new LineRenderer({out, err, warnings, clock});
}
