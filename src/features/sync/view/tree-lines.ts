import type {ChalkInstance} from 'chalk';
import {formatAge} from '../../../format/age.js';
import {fitLine, type LinePiece} from '../../../cli/output/fit-line.js';
import {ASCII_GLYPHS, UNICODE_GLYPHS, type LineGlyphs} from '../../../cli/output/terminal-features.js';
import {formatPodTitle} from '../../pods/pod-title.js';
import {formatElapsed} from '../../../format/duration.js';
import type {PartView, PodView} from './pod-view.js';

/** Characters that a tree consists of. */
export interface TreeGlyphs extends LineGlyphs {
  readonly spinner: readonly string[];
}

/** Characters for terminals with Unicode. */
export const UNICODE_TREE: TreeGlyphs = {
  ...UNICODE_GLYPHS,
  spinner: ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'],
};

/** Characters for other terminals. */
export const ASCII_TREE: TreeGlyphs = {...ASCII_GLYPHS, spinner: ['|', '/', '-', '\\']};

/** Duration of a spinner frame, in ms. */
export const FRAME_MS = 100;

/** Options of a frame. */
export interface FrameOptions {
  readonly chalk: ChalkInstance;
  readonly glyphs: TreeGlyphs;
  readonly columns: number;
  /** Time since the start of the sync, in ms. */
  readonly elapsedMs: number;
  /** Current time, in ms since the epoch. */
  readonly nowMs: number;
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
  {chalk, glyphs, elapsedMs, nowMs}: FrameOptions,
): readonly (readonly LinePiece[])[] {
  const {spinner, pending} = glyphs;
  const frame = spinner[Math.floor(elapsedMs / FRAME_MS) % spinner.length] ?? '';
  const busy = view.activity !== '';
  const activity = busy ? `${view.activity} ${pending}` : '';
  const facts = [view.phase, view.ip, waitText(view, elapsedMs), activity].filter((fact) => fact !== '');
  const parts = [...(view.sandbox === undefined ? [] : [view.sandbox]), ...view.containers.values()];
  const width = Math.max(0, ...parts.map(({label}) => label.length));
  return [
    [busy ? [frame, chalk.cyan] : ' ', ' ', [formatPodTitle(view.ref), chalk.bold], `  ${facts.join('  ')}`],
    ...parts.map((part, index) => {
      const branch = index === parts.length - 1 ? glyphs.lastBranch : glyphs.branch;
      return partPieces(part, {chalk, nowMs, width, branch});
    }),
  ];
}

/** Returns the running time of the wait for the pod: whole seconds, since tenths would distract. */
function waitText({waitingSinceMs}: PodView, elapsedMs: number): string {
  const waitedMs = waitingSinceMs === undefined ? 0 : elapsedMs - waitingSinceMs;
  return waitedMs < 1000 ? '' : formatAge(waitedMs);
}

function partPieces(
  {label, state, tone, durationMs, ran}: PartView,
  {
    chalk,
    nowMs,
    width,
    branch,
  }: Pick<FrameOptions, 'chalk' | 'nowMs'> & {
    readonly width: number;
    readonly branch: string;
  },
): readonly LinePiece[] {
  const paint = {busy: chalk.yellow, good: chalk.green, bad: chalk.red, plain: chalk.dim}[tone];
  const took = ran === undefined ? formatElapsed(durationMs) : formatAge((ran.untilMs ?? nowMs) - ran.fromMs);
  return [
    [`  ${branch}`, chalk.dim],
    ` ${label.padEnd(width)}  `,
    [took === '' ? state : `${state}  ${took}`, paint],
  ];
}
