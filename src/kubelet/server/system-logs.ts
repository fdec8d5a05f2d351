import {constants} from 'node:fs';
import {open, realpath, type FileHandle} from 'node:fs/promises';
import type {ServerResponse} from 'node:http';
import {pipeline} from 'node:stream/promises';
import {hasErrno} from '../../base/errors.js';
import {fdPath, someEntries} from '../../base/file-handles.js';
import {openBeneath} from '../../base/open-beneath.js';
import {HttpError, type Answer, type KubeletRequest} from './answer.js';
import type {Route} from './routes.js';

/** So many names of a directory are shown. */
const MAX_ENTRIES = 10_000;

/** /logs/: the node's log directory, its directories as lists of links (ServeLogs, Go's http.FileServer). */
export function systemLogsRoute(directory: string): Route {
  return {
    pattern: '/logs/*',
    methods: ['GET'],
    handle: async (request) => await systemLogs(directory, request),
  };
}

async function systemLogs(directory: string, {params, raw, signal}: KubeletRequest): Promise<Answer> {
  const path = params['*'] ?? '';
  const handle = await openForReading(directory, path);
  try {
    const found = await handle.stat();
    if (found.isFile()) return file(handle, found.size, signal);
    const isNamedAsDirectory = (raw.url ?? '').split('?', 1)[0]?.endsWith('/') ?? false;
    if (!isNamedAsDirectory)
      throw new HttpError(301, '', {location: `${encodeURIComponent(path.split('/').at(-1) ?? '')}/`});
    const answer = await listing(handle);
    await handle.close();
    return answer;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Opens what is there without leaving the directory, and only what can be read: no FIFO, no device. */
async function openForReading(directory: string, path: string): Promise<FileHandle> {
  try {
    await using place = await openBeneath(await realpath(directory), path);
    const found = await place.stat();
    if (!found.isFile() && !found.isDirectory()) throw notFound();
    return await open(fdPath(place), constants.O_RDONLY | constants.O_NONBLOCK);
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

/** As long as it is now: a log grows while it is read. */
function file(handle: FileHandle, size: number, signal: AbortSignal): Answer {
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

async function listing(handle: FileHandle): Promise<Answer> {
  const entries = (await someEntries(handle, MAX_ENTRIES))
    .map((entry) => `${entry.name.toString()}${entry.isDirectory() ? '/' : ''}`)
    .sort();
  const links = entries.map((name) => `<a href="${encodeURI(`./${name}`)}">${escapeHtml(name)}</a>\n`);
  return {
    kind: 'whole',
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
