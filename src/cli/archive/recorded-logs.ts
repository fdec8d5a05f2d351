import {basename, dirname} from 'node:path';
import {isObject} from '../../base/is-object.js';
import {irregularLogError, type LogFiles, type OpenLogFile} from '../../operations/logs/log-files.js';
import type {SavedNode} from './saved-node.js';

/** Name of the part of an archive with the logs of containers. */
export const LOGS_PART = 'logs';

/** End of a log in an archive, or why it could not be read. */
export type RecordedLog = {readonly text: string; readonly isCut: boolean} | {readonly error: string};

/** Logs in an archive by their paths on the node. */
export interface LogsRecording {
  readonly files: Readonly<Record<string, RecordedLog>>;
}

/**
 * Returns the log files of a saved node. Paths are only looked up in the archive. `onCut` receives a notice for each log whose
 * beginning was not saved. The methods reject with ConfigError for what was not saved.
 */
export function createRecordedLogFiles(node: SavedNode, onCut: (notice: string) => void): LogFiles {
  let known: Readonly<Record<string, unknown>> | undefined;
  const files = (): Readonly<Record<string, unknown>> => {
    known ??= readFiles(node);
    return known;
  };
  const cut = new Set<string>();
  const textOf = (path: string): string => {
    const log = Object.hasOwn(files(), path) ? files()[path] : undefined;
    if (!isObject(log)) throw node.lacks(`the log "${path}"`);
    if (typeof log['error'] === 'string')
      throw node.unusable(`the log "${path}" could not be read on the node: ${log['error']}`);
    if (typeof log['text'] !== 'string') throw irregularLogError(path);
    if (log['isCut'] === true && !cut.has(path)) onCut(`kcri: only the end of the log "${path}" was saved`);
    cut.add(path);
    return log['text'];
  };
  return {
    open: async (path) => await Promise.resolve(openedText(path, textOf(path))),
    stat: async (path) => {
      await Promise.resolve();
      return Object.hasOwn(files(), path)
        ? {identity: path, size: Buffer.byteLength(textOf(path))}
        : undefined;
    },
    list: async (directory) =>
      await Promise.resolve(
        Object.keys(files())
          .filter((path) => dirname(path) === directory)
          .map((path) => basename(path)),
      ),
    realpath: async (path) => await Promise.resolve(path),
    watch: async () =>
      await Promise.resolve({
        next: async (_ms, signal) => {
          await Promise.resolve();
          signal.throwIfAborted();
        },
        [Symbol.dispose]: () => undefined,
      }),
    hint: 'only the ends of logs are saved; read the log on the node',
  };
}

function readFiles(node: SavedNode): Readonly<Record<string, unknown>> {
  const {files} = node.part(LOGS_PART, 'the logs of containers');
  if (!isObject(files)) throw node.unusable('its logs have another form');
  return files;
}

function openedText(path: string, text: string): OpenLogFile {
  const bytes = Buffer.from(text);
  return {
    state: async () => await Promise.resolve({identity: path, size: bytes.length}),
    readAt: async (into, position) => await Promise.resolve(bytes.copy(into, 0, position)),
    close: async () => {
      await Promise.resolve();
    },
  };
}
