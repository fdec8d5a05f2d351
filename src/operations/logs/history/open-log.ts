import {PlainLogFile, type LogFile, type OpenLogOptions} from '../log-file.js';
import {GzippedLogFile} from './gzipped-log-file.js';

/** Opens a log for reading, also a gzipped one. Rejects as LogFiles.open does. */
export async function openLog(path: string, options: OpenLogOptions = {}): Promise<LogFile> {
  return path.endsWith('.gz')
    ? await GzippedLogFile.open(path, options)
    : await PlainLogFile.open(path, options);
}
