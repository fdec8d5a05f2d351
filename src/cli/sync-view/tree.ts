import type {ChalkInstance} from 'chalk';
import {podTitle, tookText} from './text.js';
import type {PartView, PodView} from './model.js';

const SPINNER = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
/** How long one frame of the spinner stands. */
export const FRAME_MS = 100;

/** What a frame depends on beside the views. */
export interface FrameOptions {
  readonly chalk: ChalkInstance;
  readonly columns: number;
  /** Milliseconds since the sync began. */
  readonly elapsedMs: number;
}

/** The tree of all pods as lines, each cut to the terminal's width. */
export function treeLines(views: readonly PodView[], options: FrameOptions): readonly string[] {
  return views.flatMap((view) => podLines(view, options));
}

function podLines(view: PodView, options: FrameOptions): readonly string[] {
  const {chalk, elapsedMs, columns} = options;
  const frame = SPINNER[Math.floor(elapsedMs / FRAME_MS) % SPINNER.length] ?? '';
  const busy = view.doing !== '';
  const facts = [view.phase, view.ip, busy ? `${view.doing} …` : ''].filter((fact) => fact !== '').join('  ');
  const parts = [...(view.sandbox === undefined ? [] : [view.sandbox]), ...view.containers.values()];
  const width = Math.max(0, ...parts.map(({label}) => label.length));
  return [
    `${busy ? chalk.cyan(frame) : ' '} ${chalk.bold(podTitle(view.ref))}  ${clip(facts, columns - podTitle(view.ref).length - 6)}`,
    ...parts.map((part, index) => partLine(part, {...options, width, last: index === parts.length - 1})),
  ];
}

function partLine(
  part: PartView,
  options: FrameOptions & {readonly width: number; readonly last: boolean},
): string {
  const {chalk, width, last, columns} = options;
  const paint = {busy: chalk.yellow, good: chalk.green, bad: chalk.red, plain: chalk.dim}[part.tone];
  const label = clip(part.label, columns - 6);
  const took = tookText(part.tookMs);
  const state = clip(`${part.state}${took === '' ? '' : `  ${took}`}`, columns - width - 8);
  return `  ${chalk.dim(last ? '└─' : '├─')} ${label.padEnd(width)}  ${paint(state)}`;
}

/** Lines longer than the terminal would wrap, and the redraw would count wrong. */
function clip(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`;
}
