import {writeUserFile} from '../../base/fs/atomic-write.js';
import {withUserFileHints} from '../../base/fs/files.js';
import type {OutputContext} from '../../cli/command/contexts.js';
import type {Timelines} from './pod-timelines.js';

/** Mode of the files: the program that shows them may run as another user. */
const FILE_MODE = 0o644;

/** Files to write. */
export interface TimelineFileFlags {
  readonly trace?: string | undefined;
  readonly svg?: string | undefined;
  readonly html?: string | undefined;
}

/** Writes timelines to the files that the flags name, `-` for standard output. Rejects with SystemError. */
export async function writeTimelines(
  {out}: OutputContext,
  {trace, svg, html}: TimelineFileFlags,
  {timelines, medians}: Timelines,
): Promise<void> {
  const write = async (path: string, text: string): Promise<void> => {
    if (path === '-') out.printText(text);
    else
      await withUserFileHints(async () => {
        await writeUserFile(path, text, FILE_MODE);
      });
  };
  if (trace !== undefined) await write(trace, (await import('./trace-json.js')).formatTrace(timelines));
  if (svg !== undefined) await write(svg, (await import('./timeline-svg.js')).formatSvg(timelines, medians));
  if (html !== undefined)
    await write(html, (await import('./timeline-html.js')).formatHtml(timelines, medians));
}
