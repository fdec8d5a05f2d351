import {PlainLogFile} from './log-file.js';
import {FROM_START, orClose, type HistoryOptions, type LogRanges, type StartFinder} from './log-range.js';
import {listRotatedSegments} from './rotated-segments.js';

/** Selects whole files. */
const WHOLE: StartFinder = {find: async () => await Promise.resolve(FROM_START), done: false};

/**
 * Returns the log ranges to read: the file at the path, and the files it was rotated into as far as needed. Lines
 * before the first selected one are found by a search instead of reading. Rejects with the system's error if the file
 * at the path cannot be opened, and with the signal's reason.
 */
export async function findLogRanges(path: string, options: HistoryOptions): Promise<LogRanges> {
  const finder = await finderFor(options);
  const live = await PlainLogFile.open(path, options);
  const ranges = [await orClose(live, async () => ({file: live, starts: await finder.find(live)}))];
  try {
    const rotated = finder.done ? [] : await listRotatedSegments(path, options.files);
    if (rotated.length === 0) return {ranges, skipped: []};
    const {addRotated} = await import('./history/rotated-ranges.js');
    return {ranges, skipped: await addRotated(ranges, rotated, {finder, options})};
  } catch (error) {
    for (const {file} of ranges) await file[Symbol.asyncDispose]();
    throw error;
  }
}

async function finderFor(options: HistoryOptions): Promise<StartFinder> {
  if (options.tailLines === undefined && options.since === undefined) return WHOLE;
  const {SelectedStartFinder} = await import('./history/selected-start-finder.js');
  return new SelectedStartFinder(options);
}
