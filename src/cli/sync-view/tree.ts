import type {ChalkInstance} from 'chalk';
import {visibleInLine} from '../../format/visible.js';
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

type Paint = (text: string) => string;
/** A piece of a line and its colour; a bare text has none. */
type Piece = string | readonly [text: string, paint: Paint];

/** The tree of all pods as lines, each cut to the terminal's width. */
export function treeLines(views: readonly PodView[], options: FrameOptions): readonly string[] {
  return views.flatMap((view) => podPieces(view, options)).map((pieces) => fit(pieces, options.columns));
}

function podPieces(view: PodView, {chalk, elapsedMs}: FrameOptions): readonly (readonly Piece[])[] {
  const frame = SPINNER[Math.floor(elapsedMs / FRAME_MS) % SPINNER.length] ?? '';
  const busy = view.doing !== '';
  const facts = [view.phase, view.ip, busy ? `${view.doing} …` : ''].filter((fact) => fact !== '');
  const parts = [...(view.sandbox === undefined ? [] : [view.sandbox]), ...view.containers.values()];
  const width = Math.max(0, ...parts.map(({label}) => label.length));
  return [
    [busy ? [frame, chalk.cyan] : ' ', ' ', [podTitle(view.ref), chalk.bold], `  ${facts.join('  ')}`],
    ...parts.map((part, index) => partPieces(part, {chalk, width, last: index === parts.length - 1})),
  ];
}

function partPieces(
  {label, state, tone, tookMs}: PartView,
  {chalk, width, last}: {readonly chalk: ChalkInstance; readonly width: number; readonly last: boolean},
): readonly Piece[] {
  const paint = {busy: chalk.yellow, good: chalk.green, bad: chalk.red, plain: chalk.dim}[tone];
  const took = tookText(tookMs);
  return [
    [last ? '  └─' : '  ├─', chalk.dim],
    ` ${label.padEnd(width)}  `,
    [took === '' ? state : `${state}  ${took}`, paint],
  ];
}

/** Puts the pieces together. A line longer than the terminal would wrap, and the redraw would count wrong. */
function fit(pieces: readonly Piece[], columns: number): string {
  const parts = pieces.map((piece) => {
    const [text, paint]: readonly [string, Paint] =
      typeof piece === 'string' ? [piece, (plain) => plain] : piece;
    return [visibleInLine(text), paint] as const;
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
