import {humanSize} from '../../format/human-size.js';
import {formatMilliseconds} from '../../format/duration.js';
import {
  followPull,
  PullProgress,
  type Download,
  type PullTimes,
} from '../../operations/images/pull-progress.js';
import type {ConnectionContext, EnvironmentContext, OutputContext} from '../../cli/command/contexts.js';
import {LiveRegion} from '../../cli/output/live-region.js';
import {canMoveCursor, glyphsOf, type LineGlyphs} from '../../cli/output/terminal-features.js';

/** Downloads are shown when a pull takes longer than this, in milliseconds. */
const SHOWN_AFTER_MS = 1000;
const BAR_WIDTH = 20;

/** Result of a pull, and its times. */
export interface TimedPull<T> {
  readonly value: T;
  readonly times: PullTimes;
}

/**
 * Waits for a pull and measures it. On a terminal, shows the downloads of containerd while it lasts, or only the elapsed
 * time on another runtime.
 */
export async function withPullProgress<T>(
  services: ConnectionContext & EnvironmentContext & OutputContext,
  activity: string,
  work: Promise<T>,
): Promise<TimedPull<T>> {
  const {context, connections, out} = services;
  const {clock} = context;
  const startedAtMs = clock.now();
  const progress = new PullProgress(startedAtMs);
  const glyphs = glyphsOf(context.env);
  const canDraw = out.stderr.isTerminal && canMoveCursor(context.env);
  const done = new AbortController();
  let region: LiveRegion | undefined;
  const draw = (): void => {
    const elapsedMs = clock.now() - startedAtMs;
    if (!canDraw || elapsedMs < SHOWN_AFTER_MS || done.signal.aborted) return;
    region ??= new LiveRegion(out.stderr);
    region.draw(
      progressLines({activity, elapsedMs, progress, glyphs, ...sizeOf(region, out.stderr.columns)}),
    );
  };
  const following = followPull(async () => await connections.containerd(), progress, {
    clock,
    signal: done.signal,
    onUpdate: draw,
  });
  const ticking = everySecond(services, done.signal, draw);
  try {
    const value = await work;
    return {value, times: progress.times(clock.now())};
  } finally {
    done.abort();
    await Promise.all([following, ticking]);
    region?.clear();
    region?.end();
  }
}

/** Calls `draw` each second until the signal aborts. */
async function everySecond(
  {context: {clock}}: EnvironmentContext,
  signal: AbortSignal,
  draw: () => void,
): Promise<void> {
  try {
    for (;;) {
      await clock.sleep(SHOWN_AFTER_MS, signal);
      draw();
    }
  } catch {
    // The pull has ended.
  }
}

function sizeOf({maxLines}: LiveRegion, columns = 80): {readonly maxLines: number; readonly columns: number} {
  return {maxLines, columns};
}

/** What the display of a pull shows. */
interface ProgressView {
  readonly activity: string;
  readonly elapsedMs: number;
  readonly progress: Pick<PullProgress, 'downloads' | 'isDownloaded'>;
  readonly glyphs: Pick<LineGlyphs, 'pending'>;
  readonly maxLines: number;
  readonly columns: number;
}

/** Returns the lines of the display: the elapsed time, and one line for each layer. */
export function progressLines({
  activity,
  elapsedMs,
  progress,
  glyphs: {pending},
  maxLines,
  columns,
}: ProgressView): readonly string[] {
  const layers = progress.downloads.filter(({kind}) => kind === 'layer');
  const unpacking = progress.isDownloaded ? ', unpacking' : '';
  const seconds = formatMilliseconds(Math.floor(elapsedMs / 1000) * 1000);
  // The newest layers are those that still move.
  const shown = maxLines > 1 ? layers.slice(-(maxLines - 1)) : [];
  return [`${activity}${unpacking} ${pending} ${seconds}`, ...shown.map(layerLine)].map((line) =>
    line.slice(0, columns),
  );
}

function layerLine({id, doneBytes, totalBytes, isDone}: Download): string {
  if (isDone) return `  ${id}  downloaded ${humanSize(doneBytes)}`;
  if (totalBytes === 0) return `  ${id}  ${humanSize(doneBytes)}`;
  const filled = Math.min(BAR_WIDTH, Math.floor((doneBytes / totalBytes) * BAR_WIDTH));
  return `  ${id}  [${'='.repeat(filled)}${' '.repeat(BAR_WIDTH - filled)}] ${humanSize(doneBytes)}/${humanSize(totalBytes)}`;
}

/** Returns the times of a pull as a sentence. */
export function formatPullTimes({pulledMs, downloadMs, unpackMs, downloadedBytes}: PullTimes): string {
  const total = `pulled in ${formatMilliseconds(pulledMs)}`;
  if (downloadMs === undefined || unpackMs === undefined) return total;
  return `${total}: ${humanSize(downloadedBytes)} downloaded in ${formatMilliseconds(downloadMs)}, then unpacked for ${formatMilliseconds(unpackMs)}`;
}
