import type {ChalkInstance} from 'chalk';
import {escapeToLine} from '../../../format/escape-controls.js';
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

type Paint = (text: string) => string;
/** Part of a line with its color; a plain string has no color. */
type Piece = string | readonly [text: string, paint: Paint];

/** Returns the tree of all pods as lines, each cut to the width of the terminal. */
export function formatTree(views: readonly PodView[], options: FrameOptions): readonly string[] {
  return views.flatMap((view) => podPieces(view, options)).map((pieces) => fit(pieces, options.columns));
}

function podPieces(view: PodView, {chalk, elapsedMs}: FrameOptions): readonly (readonly Piece[])[] {
  const frame = SPINNER[Math.floor(elapsedMs / FRAME_MS) % SPINNER.length] ?? '';
  const busy = view.activity !== '';
  const facts = [view.phase, view.ip, busy ? `${view.activity} …` : ''].filter((fact) => fact !== '');
  const parts = [...(view.sandbox === undefined ? [] : [view.sandbox]), ...view.containers.values()];
  const width = Math.max(0, ...parts.map(({label}) => label.length));
  return [
    [busy ? [frame, chalk.cyan] : ' ', ' ', [formatPodTitle(view.ref), chalk.bold], `  ${facts.join('  ')}`],
    ...parts.map((part, index) => partPieces(part, {chalk, width, last: index === parts.length - 1})),
  ];
}

function partPieces(
  {label, state, tone, durationMs}: PartView,
  {chalk, width, last}: {readonly chalk: ChalkInstance; readonly width: number; readonly last: boolean},
): readonly Piece[] {
  const paint = {busy: chalk.yellow, good: chalk.green, bad: chalk.red, plain: chalk.dim}[tone];
  const took = formatElapsed(durationMs);
  return [
    [last ? '  └─' : '  ├─', chalk.dim],
    ` ${label.padEnd(width)}  `,
    [took === '' ? state : `${state}  ${took}`, paint],
  ];
}

/** Joins the pieces and cuts them to the width of the terminal. A longer line would wrap and break the redraw. */
function fit(pieces: readonly Piece[], columns: number): string {
  const parts = pieces.map((piece) => {
    const [text, paint]: readonly [string, Paint] =
      typeof piece === 'string' ? [piece, (plain) => plain] : piece;
    return [escapeToLine(text), paint] as const;
  });
  const whole = parts.reduce((sum, [text]) => sum + text.length, 0);
  const mark = whole > columns && columns > 0 ? '…' : '';
  let room = columns - mark.length;
  const shown = parts.map(([text, paint]) => {
    const cut = text.slice(0, Math.max(0, room));
    room -= cut.length;
    return cut === '' ? '' : paint(cut);
  });
  return `${shown.join('')}${mark}`;
}
