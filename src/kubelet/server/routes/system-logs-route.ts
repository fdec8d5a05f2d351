import {constants} from 'node:fs';
import {open, realpath, type FileHandle} from 'node:fs/promises';
import type {ServerResponse} from 'node:http';
import {posix} from 'node:path';
import {pipeline} from 'node:stream/promises';
import {hasErrno} from '../../../base/errors.js';
import {fdPath, readDirectoryEntries} from '../../../base/fs/file-handles.js';
import {openBeneath} from '../../../base/fs/open-beneath.js';
import {HttpError, type KubeletResponse, type KubeletRequest} from '../kubelet-response.js';
import type {Route} from '../router.js';
import {parseNodeLogQuery, validateNodeLogQuery} from './node-log-query.js';
import {queryProblems, serviceLogs, type ServiceLogsOptions} from './node-logs.js';

/** Maximum number of entries in a directory listing. */
const MAX_ENTRIES = 10_000;

/** Log directory of the node, and whether it can be queried (enableSystemLogQuery). */
export interface SystemLogsOptions extends ServiceLogsOptions {
  readonly systemLogQuery: boolean;
}

/**
 * Returns the route of /logs/, which serves the files and listings of the log directory (ServeLogs, http.FileServer), and
 * answers queries for the logs of services and files if that is enabled.
 */
export function systemLogsRoute(options: SystemLogsOptions): Route {
  return {
    pattern: '/logs/*',
    registeredAs: '/logs/',
    methods: ['GET'],
    handle: async (request) =>
      options.systemLogQuery
        ? await queriedLogs(options, request)
        : await systemLogs(options.systemLogDir, request),
  };
}

async function queriedLogs(options: ServiceLogsOptions, request: KubeletRequest): Promise<KubeletResponse> {
  const {systemLogDir: directory} = options;
  const parsed = parseNodeLogQuery(request.query);
  if (parsed.kind === 'invalid') throw new HttpError(400, queryProblems(parsed.problems));
  const {query} = parsed;
  if (query === undefined) return await systemLogs(directory, request);
  const problems = await validateNodeLogQuery(query);
  if (problems.length > 0) throw new HttpError(406, queryProblems(problems));
  const [file] = query.files;
  if (file === undefined) return serviceLogs(options, query, request);
  const path = posix.join('/', file.replaceAll('\\', '/')).slice(1);
  return await systemLogs(directory, {...request, params: {'*': path}});
}

async function systemLogs(
  directory: string,
  {params, raw, signal}: KubeletRequest,
): Promise<KubeletResponse> {
  const path = params['*'] ?? '';
  const handle = await openForReading(directory, path);
  try {
    const stats = await handle.stat();
    if (stats.isFile()) return file(handle, stats.size, signal);
    const hasTrailingSlash = (raw.url ?? '').split('?', 1)[0]?.endsWith('/') ?? false;
    if (!hasTrailingSlash)
      throw new HttpError(301, '', {location: `${encodeURIComponent(path.split('/').at(-1) ?? '')}/`});
    const response = await listing(handle);
    await handle.close();
    return response;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Opens a regular file or directory beneath the directory. Rejects with HttpError 403 or 404. */
async function openForReading(directory: string, path: string): Promise<FileHandle> {
  try {
    await using located = await openBeneath(await realpath(directory), path);
    const stats = await located.stat();
    if (!stats.isFile() && !stats.isDirectory()) throw notFound();
    return await open(fdPath(located), constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (error instanceof HttpError) throw error;
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    if (hasErrno(cause, 'EACCES', 'EPERM')) throw new HttpError(403, '403 Forbidden\n');
    throw notFound();
  }
}

function notFound(): HttpError {
  return new HttpError(404, '404 page not found\n');
}

/** Streams the first `size` bytes, because a log can grow while it is read. */
function file(handle: FileHandle, size: number, signal: AbortSignal): KubeletResponse {
  return {
    kind: 'streamed',
    headers: {'content-length': String(size)},
    write: async (response: ServerResponse) => {
      try {
        if (size > 0)
          await pipeline(handle.createReadStream({end: size - 1, autoClose: false}), response, {signal});
      } finally {
        await handle.close();
      }
    },
  };
}

async function listing(handle: FileHandle): Promise<KubeletResponse> {
  const entries = (await readDirectoryEntries(handle, MAX_ENTRIES))
    .map((entry) => `${entry.name.toString()}${entry.isDirectory() ? '/' : ''}`)
    .sort();
  const links = entries.map((name) => `<a href="${encodeURI(`./${name}`)}">${escapeHtml(name)}</a>\n`);
  return {
    kind: 'buffered',
    status: 200,
    type: 'text/html; charset=utf-8',
    headers: {'content-security-policy': "default-src 'none'"},
    body: `<!doctype html>\n<pre>\n${links.join('')}</pre>\n`,
  };
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&#34;',
  "'": '&#39;',
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}
