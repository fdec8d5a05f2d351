import {once} from 'node:events';
import {chmod, rmdir, unlink, type FileHandle} from 'node:fs/promises';
import {connect, createServer, type Server, type Socket} from 'node:net';
import {join} from 'node:path';
import type {Clock} from '../base/clock.js';
import {hasErrno, SystemError} from '../base/errors.js';
import {fdPath, openDirectory} from '../base/file-handles.js';
import {fileError, ifPresent, makeDirectories, withFileErrors} from '../base/files.js';
import {timeLimit} from '../base/time-limit.js';
import type {Logger} from '../base/logger.js';
import type {PodUid} from '../cri/index.js';
import type {KubeletReport} from './kubelet-report.js';

/** Changes when an older kcri can't read what a newer daemon says, or the other way round. */
const VERSION = 1;
const SOCKET = 'kubelet.sock';
/** A question has at most so many bytes: room for ten thousand UIDs. */
const LONGEST_QUESTION = 1024 * 1024;
/** Who takes longer to ask or to listen is cut off, and a daemon that takes longer counts as silent. */
const PATIENCE_MS = 5000;
const MAX_CONNECTIONS = 16;

/** What a daemon that is asked answers with. */
export interface ReportService {
  /** Of the pods of these UIDs, or of all. */
  readonly report: (uids: readonly PodUid[] | undefined) => KubeletReport;
  /** Takes out what nobody is to be shown. */
  readonly mask: (text: string) => string;
  readonly logger: Logger;
}

const directoryOf = (rootDir: string): string => join(rootDir, 'kubelet');

/**
 * Answers other kcris on a unix socket `<rootDir>/kubelet/kubelet.sock`, which only root may open: nothing is done
 * until somebody asks. To be called by who holds the daemon's lock; disposing ends it. Rejects with SystemError.
 */
export async function serveReports(rootDir: string, service: ReportService): Promise<AsyncDisposable> {
  const path = directoryOf(rootDir);
  // The directory is closed to others, so that nobody comes before the socket has its mode.
  await makeDirectories([{path, mode: 0o700}]);
  const directory = await openDirectory(path, path);
  if (directory === undefined) throw new SystemError(`the directory ${JSON.stringify(path)} is gone`);
  try {
    const sockets = new Set<Socket>();
    const server = await withFileErrors('listening on', join(path, SOCKET), () =>
      listenIn(directory, (socket) => {
        sockets.add(socket);
        socket.once('close', () => sockets.delete(socket));
        answerOne(socket, service);
      }),
    );
    return {
      [Symbol.asyncDispose]: async () => {
        const closed = once(server, 'close');
        server.close();
        for (const socket of sockets) socket.destroy();
        await closed;
        await directory.close();
        // Anything else in it is somebody's.
        await rmdir(path).catch((error: unknown) => {
          if (!hasErrno(error, 'ENOTEMPTY', 'ENOENT')) throw fileError('removing', path, error);
        });
      },
    };
  } catch (error) {
    await directory.close();
    throw error;
  }
}

/** A socket's path may have 107 bytes, however long the directory's is. */
async function listenIn(directory: FileHandle, take: (socket: Socket) => void): Promise<Server> {
  const socketPath = join(fdPath(directory), SOCKET);
  // One that was killed has left it.
  await ifPresent(() => unlink(socketPath));
  const server = createServer({allowHalfOpen: true}, take);
  server.maxConnections = MAX_CONNECTIONS;
  server.listen({path: socketPath});
  await once(server, 'listening');
  // Later faults are of single connections, such as too many open files.
  server.on('error', () => undefined);
  await chmod(socketPath, 0o600);
  return server;
}

/** A question is a line of JSON and the end of what is sent. */
function answerOne(socket: Socket, service: ReportService): void {
  const chunks: Buffer[] = [];
  let size = 0;
  socket.setTimeout(PATIENCE_MS, () => socket.destroy());
  socket.on('error', () => undefined); // whoever asked has gone
  socket.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > LONGEST_QUESTION) socket.destroy();
    else chunks.push(chunk);
  });
  socket.once('end', () => {
    try {
      socket.end(answerTo(Buffer.concat(chunks).toString(), service));
    } catch (error) {
      service.logger.error(error, 'Failed to answer another kcri');
      socket.destroy();
    }
  });
}

function answerTo(question: string, {report, mask}: ReportService): string {
  const {uids} = JSON.parse(question) as {readonly uids?: readonly PodUid[]};
  return JSON.stringify({version: VERSION, ...report(uids)}, (_, value: unknown) =>
    typeof value === 'string' ? mask(value) : value,
  );
}

/** How a daemon is asked. */
export interface AskOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * What the daemon that runs with the root directory says, of the pods of these UIDs or of all. Rejects with
 * SystemError when none answers, and with the signal's reason.
 */
export async function askKubelet(
  rootDir: string,
  uids: readonly PodUid[] | undefined,
  {clock, signal}: AskOptions,
): Promise<KubeletReport> {
  const path = directoryOf(rootDir);
  const directory = await openDirectory(path, path);
  if (directory === undefined) throw new SystemError(`there is no "${join(path, SOCKET)}"`);
  using limit = timeLimit(
    clock,
    PATIENCE_MS,
    () => new SystemError(`it has not answered for ${PATIENCE_MS / 1000}s`),
  );
  try {
    const ends = AbortSignal.any([signal, limit.signal]);
    const answer = await withFileErrors('asking at', join(path, SOCKET), () =>
      exchange(join(fdPath(directory), SOCKET), JSON.stringify({uids}), ends),
    );
    return readAnswer(answer);
  } finally {
    await directory.close();
  }
}

async function exchange(path: string, question: string, signal: AbortSignal): Promise<string> {
  signal.throwIfAborted();
  const socket = connect({path});
  const abort = (): void => {
    socket.destroy(signal.reason as Error);
  };
  signal.addEventListener('abort', abort);
  try {
    socket.end(question);
    const chunks: Buffer[] = [];
    for await (const chunk of socket as AsyncIterable<Buffer>) chunks.push(chunk);
    return Buffer.concat(chunks).toString();
  } finally {
    signal.removeEventListener('abort', abort);
    socket.destroy();
  }
}

function readAnswer(text: string): KubeletReport {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    throw new SystemError('it has broken off its answer');
  }
  const {version, ...report} = answer as {readonly version?: unknown} & KubeletReport;
  if (version !== VERSION)
    throw new SystemError(`it says something of version ${JSON.stringify(version)}, not ${VERSION}`, {
      hint: 'start the kubelet again with this kcri',
    });
  return report;
}
