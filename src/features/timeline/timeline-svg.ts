import {counted} from '../../base/counted.js';
import {escapeXml} from '../../format/xml/xml-element.js';
import {escapeToLine} from '../../format/escape-controls.js';
import {fitMiddleToWidth, toCells} from '../../format/display-width.js';
import type {Medians} from './compute-timeline.js';
import {episodesOf, shownEpisodes, type Episode} from './episodes.js';
import {durationText, summaryLines} from './summary.js';
import {endOf, phaseTitle, rounded, type Phase, type PhaseName, type Timeline} from './phase.js';

/** Sizes in pixels. */
export const PICTURE_WIDTH = 1000;
export const TITLE_WIDTH = 240;
const DURATION_WIDTH = 80;
export const BARS_WIDTH = PICTURE_WIDTH - TITLE_WIDTH - DURATION_WIDTH;
const ROW_HEIGHT = 20;
const BAR_HEIGHT = 12;
/** Narrowest bar that can be seen. */
export const MIN_BAR_WIDTH = 2;
/** Longest title that fits, in characters of the monospaced font. */
const TITLE_LENGTH = 32;
/** Longest line above the bars, and longest name of a pod, whose font is larger. */
const LINE_LENGTH = 134;
const HEADING_LENGTH = 115;
const MAX_TICKS = 6;

/** Colors that differ for people who do not see red and green, too, on light and dark (Okabe and Ito). */
const COLORS: Partial<Record<PhaseName, string>> = {
  ...{volumes: '#0072b2', mount: '#0072b2', sandbox: '#56b4e9', pull: '#cc79a7', running: '#999999'},
  ...{'back-off': '#e69f00', stop: '#e69f00', remove: '#e69f00', failure: '#d55e00'},
};
const OTHER_COLOR = '#009e73';
const FAILED_COLOR = '#d55e00';

/** Styles of the picture; it follows the color scheme of its viewer. */
export const SVG_STYLE =
  'svg{color-scheme:light dark;font:12px ui-monospace,Menlo,Consolas,monospace;background:light-dark(#fff,#16181d)}' +
  'text{fill:light-dark(#1b1f24,#e6e6e6)}.t{font-weight:bold;font-size:14px}.d{opacity:.7}' +
  'line{stroke:light-dark(#d0d7de,#3a3f47)}.i{fill-opacity:.45;stroke-dasharray:3 2}';

/** Returns timelines as an SVG picture. Names are escaped, and it refers to nothing outside. Pure. */
export function formatSvg(timelines: readonly Timeline[], medians: Medians): string {
  const parts: string[] = [];
  let y = 10;
  for (const timeline of timelines) {
    const {lines, height} = podPart(timeline, medians, y);
    parts.push(...lines);
    y += height;
  }
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" xml:space="preserve" viewBox="0 0 ${PICTURE_WIDTH} ${y}" width="${PICTURE_WIDTH}" height="${y}" role="img">`,
    '<title>Timeline of pods</title>',
    `<style>${SVG_STYLE}</style>`,
    ...parts,
    '</svg>\n',
  ].join('\n');
}

interface Part {
  readonly lines: readonly string[];
  readonly height: number;
}

function podPart(timeline: Timeline, medians: Medians, top: number): Part {
  const {shown, omitted} = shownEpisodes(episodesOf(timeline));
  const lines: string[] = [];
  let y = top;
  const line = (text: string, style = ''): void => {
    y += ROW_HEIGHT;
    lines.push(textElement(10, y, text, style));
  };
  line(fitted(`${timeline.namespace}/${timeline.name}`, HEADING_LENGTH), 't');
  for (const text of summaryLines(timeline, medians)) line(fitted(text, LINE_LENGTH));
  for (const [index, episode] of shown.entries()) {
    if (index === 1 && omitted > 0) line(`${counted(omitted, 'episode')} left out`, 'd');
    lines.push(...episodePart(episode, timeline, y));
    y += episodeHeight(episode);
  }
  return {lines, height: y - top + ROW_HEIGHT};
}

const episodeHeight = ({phases}: Episode): number => (phases.length + 2) * ROW_HEIGHT;

function episodePart(episode: Episode, {nowMs}: Timeline, top: number): readonly string[] {
  const {startMs, phases} = episode;
  // With a margin for what goes on.
  const lengthMs = Math.max(1, (episode.endMs - startMs) * 1.03);
  const bottom = top + (phases.length + 1.5) * ROW_HEIGHT;
  return [
    `<g class="e" data-length="${rounded(lengthMs)}">`,
    textElement(10, top + ROW_HEIGHT, new Date(startMs).toISOString(), 'd'),
    // Takes the pointer between the bars.
    `<rect class="h" x="${TITLE_WIDTH}" y="${top + ROW_HEIGHT}" width="${BARS_WIDTH}" height="${bottom - top - ROW_HEIGHT}" fill="none" pointer-events="all"/>`,
    ...ticksOf(lengthMs).map((ms) => {
      const x = rounded(TITLE_WIDTH + (ms / lengthMs) * BARS_WIDTH);
      const label = `<text x="${x}" y="${top + ROW_HEIGHT}" class="d">${durationText(ms)}</text>`;
      return `<g class="k"><line x1="${x}" x2="${x}" y1="${top + 1.3 * ROW_HEIGHT}" y2="${bottom}"/>${label}</g>`;
    }),
    ...phases.map((phase, index) => {
      const y = top + (index + 2) * ROW_HEIGHT;
      return phaseElement(phase, {y, startMs, lengthMs, nowMs});
    }),
    '</g>',
  ];
}

/** Returns the times of an axis, in ms: round numbers from zero on. Pure. */
export function ticksOf(lengthMs: number): readonly number[] {
  const power = 10 ** Math.floor(Math.log10(lengthMs / MAX_TICKS));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((each) => lengthMs / each <= MAX_TICKS);
  if (step === undefined) return [0];
  return Array.from({length: Math.floor(lengthMs / step) + 1}, (_, index) => rounded(index * step));
}

interface Place {
  readonly y: number;
  readonly startMs: number;
  readonly lengthMs: number;
  readonly nowMs: number;
}

function phaseElement(phase: Phase, {y, startMs, lengthMs, nowMs}: Place): string {
  const from = Math.max(0, phase.startMs - startMs);
  const until = Math.min(lengthMs, Math.max(from, endOf(phase, nowMs) - startMs));
  const x = rounded(TITLE_WIDTH + (from / lengthMs) * BARS_WIDTH);
  const width = rounded(Math.max(MIN_BAR_WIDTH, ((until - from) / lengthMs) * BARS_WIDTH));
  const color = phase.isFailed === true ? FAILED_COLOR : (COLORS[phase.name] ?? OTHER_COLOR);
  const style = phase.inferred === undefined ? '' : ` class="i" stroke="${color}"`;
  const length = `${durationText(endOf(phase, nowMs) - phase.startMs)}${phase.inferred === undefined ? '' : '~'}`;
  const title = fitted(phaseTitle(phase), TITLE_LENGTH);
  return (
    `<g class="p" data-from="${rounded(from)}" data-until="${rounded(until)}">` +
    `<title>${escapeXml(detailsOf(phase, nowMs))}</title>` +
    textElement(10, y, title) +
    `<rect x="${x}" y="${y - BAR_HEIGHT + 2}" width="${width}" height="${BAR_HEIGHT}" rx="2" fill="${color}"${style}/>` +
    `<text x="${PICTURE_WIDTH - 10}" y="${y}" text-anchor="end" class="d">${escapeXml(length)}</text></g>`
  );
}

/** Escapes the controls of a text, also those that change its direction, and leaves out its middle if it is too long. */
function fitted(text: string, length: number): string {
  return fitMiddleToWidth(toCells(escapeToLine(text)), length, '…').trimEnd();
}

/** Returns what a pointer on a phase shows. */
function detailsOf(phase: Phase, nowMs: number): string {
  const {startMs, endMs, inferred, source, isFailed = false, note} = phase;
  const length = durationText(endOf(phase, nowMs) - startMs);
  return [
    `${phaseTitle(phase)}${isFailed ? ' (failed)' : ''}: ${length}${endMs === undefined ? ' and not ended' : ''}`,
    `from ${new Date(startMs).toISOString()}`,
    inferred === undefined ? `exact, from ${source}` : `inferred from ${source}: ${inferred}`,
    ...(note === undefined ? [] : [note]),
  ]
    .map(escapeToLine)
    .join('\n');
}

function textElement(x: number, y: number, text: string, style = ''): string {
  const attribute = style === '' ? '' : ` class="${style}"`;
  return `<text x="${x}" y="${y}"${attribute}>${escapeXml(text)}</text>`;
}
