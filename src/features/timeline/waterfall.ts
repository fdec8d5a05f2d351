import type {ChalkInstance} from 'chalk';
import {counted} from '../../base/counted.js';
import {canMoveCursor, usesUtf8} from '../../cli/output/terminal-features.js';
import type {CliContext} from '../../cli/process/context.js';
import {cutToWidth, displayWidth, fitMiddleToWidth, toCells} from '../../format/display-width.js';
import {escapeToLine} from '../../format/escape-controls.js';
import type {Medians} from './compute-timeline.js';
import {shownEpisodes, episodesOf, type Episode} from './episodes.js';
import {endOf, phaseTitle, type Phase, type Timeline} from './phase.js';
import {durationText, summaryLines} from './summary.js';

/** Characters of a waterfall. */
interface BarGlyphs {
  /** A cell, filled from the left by eighths; the last one is full. */
  readonly fills: readonly string[];
  readonly inferred: string;
  readonly running: string;
  /** Ends a bar that goes on. */
  readonly open: string;
  readonly ellipsis: string;
}

const UNICODE: BarGlyphs = {
  fills: ['▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'],
  inferred: '▒',
  running: '─',
  open: '▸',
  ellipsis: '…',
};
const ASCII: BarGlyphs = {fills: ['#'], inferred: '~', running: '-', open: '>', ellipsis: '~'};

/** Options of formatWaterfall. */
export interface WaterfallOptions {
  readonly chalk: ChalkInstance;
  /** True if the terminal shows block characters. */
  readonly isUnicode: boolean;
  /** Width of the terminal. */
  readonly columns: number;
  readonly medians: Medians;
}

type Paint = (text: string) => string;
/** Returns a line cut to the width, in a color. */
type Fit = (text: string, paint?: Paint) => string;

/** Width of a waterfall on a terminal that does not say its own, and elsewhere. */
const DEFAULT_COLUMNS = 80;

/** Returns the options of an output. */
export function waterfallOptions(
  env: CliContext['env'],
  {columns = DEFAULT_COLUMNS}: {readonly columns?: number | undefined},
): Pick<WaterfallOptions, 'isUnicode' | 'columns'> {
  return {isUnicode: usesUtf8(env) && canMoveCursor(env), columns};
}

/** Width of the column with durations. */
const DURATION_WIDTH = 9;
const MIN_BAR_WIDTH = 8;

/** Returns the lines of a timeline: title, summary, and a bar for each phase; each line is cut to the width. */
export function formatWaterfall(timeline: Timeline, options: WaterfallOptions): readonly string[] {
  const {chalk, isUnicode, columns, medians} = options;
  const glyphs = isUnicode ? UNICODE : ASCII;
  const fit: Fit = (text, paint = (plain) => plain) => paint(fitToColumns(text, columns, glyphs.ellipsis));
  const {namespace, name, manager, isDeleted = false, phases} = timeline;
  const title = [`${namespace}/${name}`, manager, isDeleted ? 'deleted' : undefined]
    .filter((part) => part !== undefined)
    .join('  ');
  const {shown, omitted} = shownEpisodes(episodesOf(timeline));
  const inferred = [...new Set(phases.flatMap((phase) => inferredLine(phase)))];
  return [
    fit(title, chalk.bold),
    ...summaryLines(timeline, medians).map((line) => fit(`  ${line}`)),
    ...shown.flatMap((episode, index) => [
      ...(index === 1 && omitted > 0 ? [fit(`  ${counted(omitted, 'episode')} left out`, chalk.dim)] : []),
      ...episodeLines(episode, timeline, {...options, glyphs, fit}),
    ]),
    ...inferred.flatMap((line) => noteLines(line, options).map((text) => fit(text, chalk.dim))),
  ];
}

/** Escapes control characters and cuts a text to a number of cells. */
function fitToColumns(text: string, columns: number, ellipsis: string): string {
  const line = toCells(escapeToLine(text));
  return displayWidth(line) <= columns ? line : `${cutToWidth(line, columns - 1)}${ellipsis}`;
}

function inferredLine({name, inferred}: Phase): readonly string[] {
  return inferred === undefined ? [] : [`${name} is inferred: ${inferred}`];
}

/** Returns a note in lines that fit the width, broken between words. */
function noteLines(text: string, {isUnicode, columns}: WaterfallOptions): readonly string[] {
  const lines = [`  ${(isUnicode ? UNICODE : ASCII).inferred}`];
  for (const word of text.split(' ')) {
    const line = `${lines.at(-1) ?? ''} ${word}`;
    if (displayWidth(line) <= columns) lines[lines.length - 1] = line;
    else lines.push(`    ${word}`);
  }
  return lines;
}

interface EpisodeOptions extends WaterfallOptions {
  readonly glyphs: BarGlyphs;
  readonly fit: Fit;
}

function episodeLines(episode: Episode, {nowMs}: Timeline, options: EpisodeOptions): readonly string[] {
  const {chalk, glyphs, columns, fit} = options;
  const titles = episode.phases.map((phase) => toCells(escapeToLine(phaseTitle(phase))));
  const widest = Math.max(...titles.map(displayWidth));
  const titleWidth = Math.min(widest, Math.max(10, Math.floor(columns * 0.35)));
  const barWidth = Math.max(MIN_BAR_WIDTH, columns - titleWidth - DURATION_WIDTH - 5);
  const scale: Scale = {...windowOf(episode), nowMs, width: barWidth};
  return [
    fit(`  ${new Date(episode.startMs).toISOString()}${axisText(scale)}`, chalk.dim),
    ...episode.phases.map((phase, index) => {
      const title = fitMiddleToWidth(titles[index] ?? '', titleWidth, glyphs.ellipsis);
      const length = durationText(endOf(phase, nowMs) - phase.startMs).padStart(DURATION_WIDTH - 1);
      const text = `${length}${phase.inferred === undefined ? ' ' : '~'}`;
      const paint = paintOf(phase, chalk);
      return `  ${title} ${paint(barText(phase, scale, glyphs))} ${chalk.dim(text)}`.trimEnd();
    }),
  ];
}

/** Part of time that a waterfall shows, in ms since the epoch, and its width in cells. */
interface Scale {
  readonly startMs: number;
  readonly endMs: number;
  readonly nowMs: number;
  readonly width: number;
}

/** Returns the time that an episode shows: with a margin, in which the bars of what runs on can be seen. */
function windowOf({startMs, endMs}: Episode): Pick<Scale, 'startMs' | 'endMs'> {
  return {startMs, endMs: endMs + Math.max(1, (endMs - startMs) * 0.03)};
}

function axisText({startMs, endMs}: Scale): string {
  return `  +${durationText(endMs - startMs)}`;
}

/** Returns the bar of a phase with blanks around it, as wide as the scale. */
export function barText(phase: Phase, scale: Scale, glyphs: BarGlyphs = UNICODE): string {
  const {startMs, endMs, nowMs, width} = scale;
  const cellOf = (ms: number): number =>
    (Math.min(Math.max(ms - startMs, 0), endMs - startMs) / (endMs - startMs)) * width;
  const from = Math.min(Math.floor(cellOf(phase.startMs)), width - 1);
  const isMoment = endOf(phase, nowMs) === phase.startMs;
  const until = isMoment ? from : Math.max(cellOf(endOf(phase, nowMs)), from);
  const goesOn = phase.endMs === undefined || phase.endMs > endMs;
  const bar = glyphsOf(phase, until - from, glyphs);
  const cut = goesOn
    ? `${bar.slice(0, Math.max(0, Math.min(bar.length, width - from) - 1))}${glyphs.open}`
    : bar;
  return `${' '.repeat(from)}${cut}`.slice(0, width).padEnd(width);
}

function glyphsOf(
  {name, inferred}: Phase,
  cells: number,
  {fills, inferred: guessed, running}: BarGlyphs,
): string {
  const plain = name === 'running' ? running : inferred === undefined ? undefined : guessed;
  if (plain !== undefined) return plain.repeat(Math.max(1, Math.round(cells)));
  const parts = Math.max(1, Math.round(cells * fills.length));
  const full = Math.floor(parts / fills.length);
  const rest = parts % fills.length;
  return `${(fills.at(-1) ?? '').repeat(full)}${rest === 0 ? '' : (fills[rest - 1] ?? '')}`;
}

function paintOf({name, isFailed}: Phase, chalk: ChalkInstance): Paint {
  if (isFailed === true) return chalk.red;
  if (name === 'running') return chalk.dim;
  if (name === 'back-off' || name === 'stop' || name === 'remove') return chalk.yellow;
  return name === 'pull' ? chalk.magenta : chalk.cyan;
}
