import type {ChalkInstance} from 'chalk';
import {fitLine, type LinePiece} from '../../output/fit-line.js';
import {formatPodTitle, formatElapsed} from './sync-text.js';
import type {PartView, PodView} from './pod-view.js';

/** Characters that a tree consists of. */
export interface TreeGlyphs {
  readonly spinner: readonly string[];
  readonly branch: string;
  readonly lastBranch: string;
  /** Follows an activity that has not ended. */
  readonly pending: string;
  /** Replaces the end of a line that is too long. */
  readonly ellipsis: string;
}

/** Characters for terminals with Unicode. */
export const UNICODE_TREE: TreeGlyphs = {
  spinner: ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'],
  branch: '├─',
  lastBranch: '└─',
  pending: '…',
  ellipsis: '…',
};

/** Characters for other terminals. */
export const ASCII_TREE: TreeGlyphs = {
  spinner: ['|', '/', '-', '\\'],
  branch: '|-',
  lastBranch: '`-',
  pending: '...',
  ellipsis: '~',
};

/** Duration of a spinner frame, in ms. */
export const FRAME_MS = 100;

/** Options of a frame. */
export interface FrameOptions {
  readonly chalk: ChalkInstance;
  readonly glyphs: TreeGlyphs;
  readonly columns: number;
  /** Time since the start of the sync, in ms. */
  readonly elapsedMs: number;
}

/** Returns the tree of all pods as lines, each cut to the width of the terminal: a longer line would wrap and break the redraw. */
export function formatTree(views: readonly PodView[], options: FrameOptions): readonly string[] {
  const {columns, glyphs} = options;
  return views
    .flatMap((view) => podPieces(view, options))
    .map((pieces) => fitLine(pieces, columns, glyphs.ellipsis));
}

function podPieces(
  view: PodView,
  {chalk, glyphs, elapsedMs}: FrameOptions,
): readonly (readonly LinePiece[])[] {
  const {spinner, pending} = glyphs;
  const frame = spinner[Math.floor(elapsedMs / FRAME_MS) % spinner.length] ?? '';
  const busy = view.activity !== '';
  const facts = [view.phase, view.ip, busy ? `${view.activity} ${pending}` : ''].filter(
    (fact) => fact !== '',
  );
  const parts = [...(view.sandbox === undefined ? [] : [view.sandbox]), ...view.containers.values()];
  const width = Math.max(0, ...parts.map(({label}) => label.length));
  return [
    [busy ? [frame, chalk.cyan] : ' ', ' ', [formatPodTitle(view.ref), chalk.bold], `  ${facts.join('  ')}`],
    ...parts.map((part, index) =>
      partPieces(part, {
        chalk,
        width,
        branch: index === parts.length - 1 ? glyphs.lastBranch : glyphs.branch,
      }),
    ),
  ];
}

function partPieces(
  {label, state, tone, durationMs}: PartView,
  {chalk, width, branch}: {readonly chalk: ChalkInstance; readonly width: number; readonly branch: string},
): readonly LinePiece[] {
  const paint = {busy: chalk.yellow, good: chalk.green, bad: chalk.red, plain: chalk.dim}[tone];
  const took = formatElapsed(durationMs);
  return [
    [`  ${branch}`, chalk.dim],
    ` ${label.padEnd(width)}  `,
    [took === '' ? state : `${state}  ${took}`, paint],
  ];
}
