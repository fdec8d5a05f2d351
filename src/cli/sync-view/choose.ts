import type {Clock} from '../../base/clock.js';
import {visibleControls} from '../../format/visible.js';
import type {Output} from '../output.js';
import type {SyncRenderer} from './renderer.js';

/** What decides how a sync is shown. */
export interface RendererChoice {
  readonly format: 'text' | 'json';
  /** Show failures as they happen, because they will be retried; a final one is shown as the command's error. */
  readonly warnings: boolean;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly colors: boolean;
  readonly clock: Clock;
}

/** A live tree on a terminal, plain lines in a pipe, JSON lines when asked for. */
export async function chooseRenderer(choice: RendererChoice): Promise<SyncRenderer> {
  const {format, warnings, stdout, stderr, colors, clock} = choice;
  const out = (line: string): void => {
    stdout.write(`${line}\n`);
  };
  if (format === 'json') {
    const {JsonLinesRenderer} = await import('./json-lines.js');
    return new JsonLinesRenderer(out, clock);
  }
  if (stdout.isTerminal) {
    const [{LiveTree}, {Chalk}] = await Promise.all([import('./live-tree.js'), import('chalk')]);
    return new LiveTree({output: stdout, chalk: new Chalk({level: colors ? 1 : 0}), clock, warnings});
  }
  const {LineRenderer} = await import('./lines.js');
  const err = (line: string): void => {
    stderr.write(`${visibleControls(line)}\n`);
  };
  return new LineRenderer({out, err, warnings});
}
