import {writeUserFile} from '../../base/fs/atomic-write.js';
import {withUserFileHints} from '../../base/fs/files.js';
import type {Medians} from './compute-timeline.js';
import type {Timeline} from './phase.js';

/** Mode of the files: the program that shows them may run as another user. */
const FILE_MODE = 0o644;

/** Files to write. */
export interface TimelineFileFlags {
  readonly trace?: string | undefined;
  readonly svg?: string | undefined;
  readonly html?: string | undefined;
}

/** Writes timelines to the files that the flags name. Rejects with SystemError. */
export async function writeTimelines(
  {trace, svg, html}: TimelineFileFlags,
  timelines: readonly Timeline[],
  medians: Medians,
): Promise<void> {
  const write = async (path: string, text: string): Promise<void> => {
    await withUserFileHints(async () => {
      await writeUserFile(path, text, FILE_MODE);
    });
  };
  if (trace !== undefined) await write(trace, (await import('./trace-json.js')).formatTrace(timelines));
  if (svg !== undefined) await write(svg, (await import('./timeline-svg.js')).formatSvg(timelines, medians));
  if (html !== undefined)
    await write(html, (await import('./timeline-html.js')).formatHtml(timelines, medians));
}
