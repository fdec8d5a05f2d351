import {onAbort} from '../../../base/async/abort-callbacks.js';
import {stateDirectoriesTo, stateDirectory} from '../../../base/fs/state-directory.js';
import {once} from 'node:events';
import {chmod, rmdir, unlink, type FileHandle} from 'node:fs/promises';
import {connect, createServer, type Server, type Socket} from 'node:net';
import {join} from 'node:path';
import {anySignal} from '../../../base/async/any-signal.js';
import type {Clock} from '../../../base/clock.js';
import {hasErrno, SystemError} from '../../../base/errors.js';
import {fdPath, openDirectory} from '../../../base/fs/file-handles.js';
import {fileError, ifPresent, makeDirectories, withFileErrors} from '../../../base/fs/files.js';
import {createDeadline} from '../../../base/async/deadline.js';
import {ConnectionTracker, type TrackedConnection} from '../../../base/net/connection-tracker.js';
import type {Logger} from '../../../base/logger.js';
import type {KubeletReport, ReportRequest} from './kubelet-report.js';

/** Version of the protocol; changes when older and newer versions of kcri cannot read each other's messages. */
const VERSION = 1;
const SOCKET = 'kubelet.sock';
/** Maximum size of a request in bytes; fits ten thousand UIDs. */
const MAX_REQUEST_BYTES = 1024 * 1024;
/** Time limit in ms: slower clients are disconnected, and a slower daemon counts as unresponsive. */
const TIMEOUT_MS = 5000;
const MAX_CONNECTIONS = 16;

/** Options of serveReports. */
export interface ReportService {
  readonly report: (request: ReportRequest) => KubeletReport;
  /** Masks secrets in a text. */
  readonly mask: (text: string) => string;
  readonly logger: Logger;
  readonly clock: Clock;
}

const directoryOf = (rootDir: string): string => join(stateDirectory(rootDir), 'kubelet');

/**
 * Serves reports to other kcri processes on the unix socket `<rootDir>/kcri/kubelet/kubelet.sock`, which only root can open.
 * Does no work until a request arrives. The caller must hold the daemon's lock. Disposing the result stops the server.
 * Rejects with SystemError.
 */
export async function serveReports(rootDir: string, service: ReportService): Promise<AsyncDisposable> {
  const path = directoryOf(rootDir);
  // The mode of the directory denies access before the socket has its own mode.
  await makeDirectories(stateDirectoriesTo(rootDir, path));
  const directory = await openDirectory(path, path);
  if (directory === undefined) throw new SystemError(`the directory ${JSON.stringify(path)} does not exist`);
  try {
    const tracker = new ConnectionTracker(MAX_CONNECTIONS, service.clock);
    const server = await withFileErrors('listening on', join(path, SOCKET), () =>
      listenIn(directory, (socket) => {
        const connection = tracker.add(socket);
        if (connection !== undefined) handleRequest(connection, service);
      }),
    );
    return {
      [Symbol.asyncDispose]: async () => {
        const closed = once(server, 'close');
        server.close();
        tracker.destroyAll();
        await closed;
        await directory.close();
        // Other files in the directory do not belong to the daemon.
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

/**
 * Listens on a socket in the directory. Uses the path of its file descriptor, because a socket path is limited to 107
 * bytes.
 */
async function listenIn(directory: FileHandle, take: (socket: Socket) => void): Promise<Server> {
  const socketPath = join(fdPath(directory), SOCKET);
  // A killed daemon leaves its socket.
  await ifPresent(() => unlink(socketPath));
  const server = createServer({allowHalfOpen: true}, take);
  server.listen({path: socketPath});
  await once(server, 'listening');
  // Later errors concern single connections, such as too many open files.
  server.on('error', () => undefined);
  await chmod(socketPath, 0o600);
  return server;
}

/** Responds to a request, which is a line of JSON and the end of the stream. */
function handleRequest(connection: TrackedConnection, service: ReportService): void {
  const {socket} = connection;
  const chunks: Buffer[] = [];
  let size = 0;
  connection.setLimit(TIMEOUT_MS, () => socket.destroy());
  socket.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > MAX_REQUEST_BYTES) socket.destroy();
    else chunks.push(chunk);
  });
  socket.once('end', () => {
    try {
      socket.end(createResponse(Buffer.concat(chunks).toString(), service));
    } catch (error) {
      service.logger.forFile('report-socket.ts').error(error, 'Failed to respond to a report request');
      socket.destroy();
    }
  });
}

function createResponse(request: string, {report, mask}: ReportService): string {
  const requested = JSON.parse(request) as ReportRequest;
  return JSON.stringify({version: VERSION, ...report(requested)}, (_, value: unknown) =>
    typeof value === 'string' ? mask(value) : value,
  );
}

/** Options of queryKubelet. */
export interface QueryKubeletOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * Resolves with the requested report of the daemon that uses the root directory.
 * Rejects with SystemError if no daemon responds, or with the signal's reason.
 */
export async function queryKubelet(
  rootDir: string,
  request: ReportRequest,
  {clock, signal}: QueryKubeletOptions,
): Promise<KubeletReport> {
  const path = directoryOf(rootDir);
  const directory = await openDirectory(path, path);
  if (directory === undefined) throw new SystemError(`"${join(path, SOCKET)}" does not exist`);
  using limit = createDeadline(
    clock,
    TIMEOUT_MS,
    () => new SystemError(`no response within ${TIMEOUT_MS / 1000}s`),
  );
  try {
    using either = anySignal(signal, limit.signal);
    const ends = either.signal;
    const response = await withFileErrors('connecting to', join(path, SOCKET), () =>
      exchange(join(fdPath(directory), SOCKET), JSON.stringify(request), ends),
    );
    return parseResponse(response);
  } finally {
    await directory.close();
  }
}

async function exchange(path: string, request: string, signal: AbortSignal): Promise<string> {
  signal.throwIfAborted();
  const socket = connect({path});
  const forget = onAbort(signal, () => {
    socket.destroy(signal.reason as Error);
  });
  try {
    socket.end(request);
    const chunks: Buffer[] = [];
    for await (const chunk of socket as AsyncIterable<Buffer>) chunks.push(chunk);
    return Buffer.concat(chunks).toString();
  } finally {
    forget();
    socket.destroy();
  }
}

function parseResponse(text: string): KubeletReport {
  let response: unknown;
  try {
    response = JSON.parse(text);
  } catch {
    throw new SystemError('the response is truncated');
  }
  const {version, ...report} = response as {readonly version?: unknown} & KubeletReport;
  if (version !== VERSION)
    throw new SystemError(`the response has version ${JSON.stringify(version)}, not ${VERSION}`, {
      hint: 'restart the kubelet with this version of kcri',
    });
  return report;
}
