import {ifPresent} from '../../base/fs/if-present.js';
import type {SftpClient} from '../../remote/sftp/sftp-client.js';
import {
  irregularLogError,
  type LogFiles,
  type LogFileState,
  type LogWatcher,
  type OpenLogFile,
} from './log-files.js';

/** Number of bytes of a log that identify it: its first line begins with the time in nanoseconds. */
const IDENTITY_BYTES = 64;
/** Interval at which followed logs of another node are read, in ms. */
const POLL_MS = 300;
const FILE_TYPE = 0o170_000;
const REGULAR = 0o100_000;
const CHARACTER_DEVICE = 0o020_000;

/** Returns the log files of a node whose files the client reads; `connect` is called on first use. */
export function createRemoteLogFiles(connect: () => Promise<SftpClient>): LogFiles {
  return {
    open: async (path) => {
      const client = await connect();
      await checkType(client, path);
      return openedFile(client, await client.open(path));
    },
    stat: async (path) => {
      const client = await connect();
      const handle = await ifPresent(async () => await client.open(path));
      if (handle === undefined) return undefined;
      const file = openedFile(client, handle);
      try {
        return await file.state();
      } finally {
        await file.close();
      }
    },
    list: async (directory) => await (await connect()).list(directory),
    realpath: async (path) => await (await connect()).realpath(path),
    watch: async (_directories, clock): Promise<LogWatcher> =>
      await Promise.resolve({
        next: async (ms, signal) => {
          await clock.sleep(Math.min(ms, POLL_MS), signal);
        },
        [Symbol.dispose]: () => undefined,
      }),
    hint: 'the user of the ssh connection must be able to read the file; connect as root (ssh://root@HOST)',
  };
}

function openedFile(client: SftpClient, handle: Buffer): OpenLogFile {
  return {
    state: async (): Promise<LogFileState> => {
      const start = Buffer.alloc(IDENTITY_BYTES);
      const [count, {size = 0}] = await Promise.all([
        client.read(handle, start, 0),
        client.attributesOf(handle),
      ]);
      return {identity: start.toString('latin1', 0, count), size};
    },
    readAt: async (into, position) => await client.read(handle, into, position),
    close: async () => {
      await client.close(handle);
    },
  };
}

/** Rejects with SystemError for a path that is not a file: the server would wait for the writer of a pipe. */
async function checkType(client: SftpClient, path: string): Promise<void> {
  const {mode = REGULAR} = await client.stat(path);
  const type = mode & FILE_TYPE;
  if (type === REGULAR) return;
  if (type === CHARACTER_DEVICE && (await client.realpath(path)) === '/dev/null') return;
  throw irregularLogError(path);
}
