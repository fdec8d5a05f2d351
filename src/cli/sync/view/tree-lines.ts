import type {ChalkInstance} from 'chalk';
import {formatAge} from '../../../format/age.js';
import {fitLine, type LinePiece} from '../../output/fit-line.js';
import {formatPodTitle, formatElapsed} from './sync-text.js';
import type {PartView, PodView} from './pod-view.js';

const SPINNER = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
/** Duration of a spinner frame, in ms. */
export const FRAME_MS = 100;

/** Options of a frame. */
export interface FrameOptions {
  readonly chalk: ChalkInstance;
  readonly columns: number;
  /** Time since the start of the sync, in ms. */
  readonly elapsedMs: number;
}

/** Returns the tree of all pods as lines, each cut to the width of the terminal: a longer line would wrap and break the redraw. */
export function formatTree(views: readonly PodView[], options: FrameOptions): readonly string[] {
  return views.flatMap((view) => podPieces(view, options)).map((pieces) => fitLine(pieces, options.columns));
}

function podPieces(view: PodView, {chalk, elapsedMs}: FrameOptions): readonly (readonly LinePiece[])[] {
  const frame = SPINNER[Math.floor(elapsedMs / FRAME_MS) % SPINNER.length] ?? '';
  const busy = view.activity !== '';
  const facts = [view.phase, view.ip, waitText(view, elapsedMs), busy ? `${view.activity} …` : ''].filter(
    (fact) => fact !== '',
  );
  const parts = [...(view.sandbox === undefined ? [] : [view.sandbox]), ...view.containers.values()];
  const width = Math.max(0, ...parts.map(({label}) => label.length));
  return [
    [busy ? [frame, chalk.cyan] : ' ', ' ', [formatPodTitle(view.ref), chalk.bold], `  ${facts.join('  ')}`],
    ...parts.map((part, index) => partPieces(part, {chalk, width, last: index === parts.length - 1})),
  ];
}

/** Returns the running time of the wait for the pod: whole seconds, since tenths would distract. */
function waitText({waitingSinceMs}: PodView, elapsedMs: number): string {
  const waitedMs = waitingSinceMs === undefined ? 0 : elapsedMs - waitingSinceMs;
  return waitedMs < 1000 ? '' : formatAge(waitedMs);
}

function partPieces(
  {label, state, tone, durationMs}: PartView,
  {chalk, width, last}: {readonly chalk: ChalkInstance; readonly width: number; readonly last: boolean},
): readonly LinePiece[] {
  const paint = {busy: chalk.yellow, good: chalk.green, bad: chalk.red, plain: chalk.dim}[tone];
  const took = formatElapsed(durationMs);
  return [
    [last ? '  └─' : '  ├─', chalk.dim],
    ` ${label.padEnd(width)}  `,
    [took === '' ? state : `${state}  ${took}`, paint],
  ];
}
