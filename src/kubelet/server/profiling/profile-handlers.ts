import {readdir, readFile} from 'node:fs/promises';
import {promisify} from 'node:util';
import {gzip} from 'node:zlib';
import type {ServerOptions} from '../http-server-options.js';
import {
  errorResponse,
  textResponse,
  type BufferedResponse,
  type KubeletRequest,
} from '../kubelet-response.js';
import {countNames} from './convert-v8-profile.js';
import {encodePprof, formatPprof, type PprofProfile} from './pprof-profile.js';
import {
  countActiveResources,
  ProfilingError,
  recordCpuProfile,
  recordHeapProfile,
  type Recording,
} from './record-profiles.js';

/** Clock and flags of the kubelet, which the handlers use. */
export type ProfiledKubelet = Pick<ServerOptions, 'clock' | 'program'>;

type ProfileRequest = Pick<KubeletRequest, 'query' | 'signal'>;

interface Handler {
  readonly description: string;
  readonly respond: (request: ProfileRequest, kubelet: ProfiledKubelet) => Promise<BufferedResponse>;
}

/** Length of a recording without the parameter `seconds`, as in Go. */
const DEFAULT_SECONDS = 30;
/** Longest recording: it bounds the memory of the samples. */
const MAX_SECONDS = 600;

/** Profiles by name, in the order of the index (net/http/pprof), with what each means for a program of Node.js. */
const HANDLERS: Readonly<Record<string, Handler>> = {
  allocs: recordedHandler(
    'allocs',
    'Bytes of all memory that is allocated during the recording, in JavaScript. You can specify the duration in the seconds GET parameter.',
    async (recording) => await recordHeapProfile('alloc_space', {...recording, collectGarbage: false}),
  ),
  block: momentaryHandler(
    'block',
    'Always empty: Node.js does not block on synchronization primitives.',
    async (timeMs) => await Promise.resolve(countNames('contentions', [], timeMs)),
  ),
  cmdline: {
    description: 'The command line of the kubelet, with secrets masked.',
    respond: async (_, {program}) => {
      const flags = Object.entries(program?.flags ?? {}).map(([name, value]) => `--${name}=${value}`);
      return await Promise.resolve(textResponse(['kubelet', ...flags].join('\0')));
    },
  },
  goroutine: momentaryHandler(
    'goroutine',
    'What the event loop waits for: open sockets, timers, requests to the file system and others, by kind.',
    async (timeMs) => await Promise.resolve(countActiveResources(timeMs)),
  ),
  heap: recordedHandler(
    'heap',
    'Bytes of the memory that is allocated during the recording, in JavaScript, and still live at its end. You can specify the duration in the seconds GET parameter, and the gc GET parameter to collect garbage before.',
    async (recording, query) =>
      await recordHeapProfile('inuse_space', {...recording, collectGarbage: integerOf(query, 'gc') > 0}),
  ),
  mutex: momentaryHandler(
    'mutex',
    'Always empty: Node.js has no contended mutexes.',
    async (timeMs) => await Promise.resolve(countNames('contentions', [], timeMs)),
  ),
  profile: {
    description:
      'CPU profile. You can specify the duration in the seconds GET parameter. Use the go tool pprof command to investigate the profile.',
    respond: async ({query, signal}, {clock}) => {
      const given = integerOf(query, 'seconds');
      const seconds = given > 0 ? given : DEFAULT_SECONDS;
      return (
        tooLong(seconds) ?? (await respondPprof('profile', await recordCpuProfile({seconds, signal, clock})))
      );
    },
  },
  symbol: {
    description: 'Always without symbols: the functions of a profile have their names.',
    respond: async () => await Promise.resolve(textResponse('num_symbols: 0\n')),
  },
  threadcreate: momentaryHandler('threadcreate', 'The threads of the process, by name.', async (timeMs) =>
    countNames('threadcreate', await readThreadNames(), timeMs),
  ),
  trace: {
    description: 'Not available: Node.js has no execution traces of the format that go tool trace reads.',
    respond: async () =>
      await Promise.resolve(profileError(404, 'trace is not available: kcri runs on Node.js and not on Go')),
  },
};

/**
 * Responds to a request below /debug/pprof/ as net/http/pprof does, with the profile `name`; an empty name is the index, which
 * a kubelet lacks because of a mistake in its routes.
 * Rejects with the signal's reason if the client disconnects during a recording.
 */
export async function respondProfile(
  name: string,
  request: ProfileRequest,
  kubelet: ProfiledKubelet,
): Promise<BufferedResponse> {
  if (name === '') return indexPage();
  const handler = Object.hasOwn(HANDLERS, name) ? HANDLERS[name] : undefined;
  if (handler === undefined) return profileError(404, 'Unknown profile');
  try {
    return await handler.respond(request, kubelet);
  } catch (error) {
    if (error instanceof ProfilingError) return profileError(500, error.message);
    throw error;
  }
}

/** Returns the handler of a profile that is taken at once. */
function momentaryHandler(
  name: string,
  description: string,
  take: (timeMs: number) => Promise<PprofProfile>,
): Handler {
  return {
    description,
    respond: async ({query}, {clock}) =>
      query.get('seconds')
        ? profileError(400, '"seconds" parameter is not supported for this profile type')
        : await respondPprof(name, await take(clock.now()), query),
  };
}

/** Returns the handler of a profile of the heap, which is recorded for some seconds. */
function recordedHandler(
  name: string,
  description: string,
  take: (recording: Recording, query: URLSearchParams) => Promise<PprofProfile>,
): Handler {
  return {
    description,
    respond: async ({query, signal}, {clock}) => {
      const seconds = query.get('seconds') ? integerOf(query, 'seconds') : DEFAULT_SECONDS;
      if (seconds <= 0) return profileError(400, 'invalid value for "seconds" - must be a positive integer');
      return (
        tooLong(seconds) ?? (await respondPprof(name, await take({seconds, signal, clock}, query), query))
      );
    },
  };
}

/** Returns the response to a request for a longer recording than the longest; undefined if it is not too long. */
function tooLong(seconds: number): BufferedResponse | undefined {
  return seconds > MAX_SECONDS
    ? profileError(400, `invalid value for "seconds" - must be at most ${MAX_SECONDS}`)
    : undefined;
}

const compress = promisify(gzip);

/** Responds with a profile for `go tool pprof`, or as text if the parameter `debug` is not 0. */
async function respondPprof(
  name: string,
  profile: PprofProfile,
  query = new URLSearchParams(),
): Promise<BufferedResponse> {
  if (integerOf(query, 'debug') !== 0) return textResponse(formatPprof(name, profile));
  return {
    kind: 'buffered',
    status: 200,
    type: 'application/octet-stream',
    headers: {'content-disposition': `attachment; filename="${name}"`},
    body: await compress(encodePprof(profile)),
  };
}

/** Returns an error response whose body `go tool pprof` shows. */
function profileError(status: number, message: string): BufferedResponse {
  return {...errorResponse(status, message), headers: {'x-go-pprof': '1'}};
}

/** Returns the integer of a parameter; 0 for anything else. */
function integerOf(query: URLSearchParams, name: string): number {
  const text = query.get(name) ?? '';
  return /^[+-]?\d+$/.test(text) ? Number(text) : 0;
}

const INDEX = '/debug/pprof/';

/** Returns the list of profiles, whose links are relative: the server redirects to the path with a slash at its end. */
function indexPage(): BufferedResponse {
  const items = Object.entries(HANDLERS).map(
    ([name, {description}]) => `<dt><a href="${name}?debug=1">${name}</a></dt><dd>${description}</dd>`,
  );
  const body = [
    '<!DOCTYPE html>',
    `<html><head><title>${INDEX}</title></head><body>`,
    `<h1>${INDEX}</h1>`,
    '<p>Profiles are in the format of go tool pprof, with debug=1 as a query parameter in a text format.</p>',
    `<dl>\n${items.join('\n')}\n</dl>`,
    '</body></html>\n',
  ];
  return {kind: 'buffered', status: 200, type: 'text/html; charset=utf-8', body: body.join('\n')};
}

/** Reads the names of the threads of this process; threads that end meanwhile are left out. */
async function readThreadNames(): Promise<readonly string[]> {
  const threads = await readdir('/proc/self/task');
  const names = threads.map(async (id) => {
    const name = await readFile(`/proc/self/task/${id}/comm`, 'utf8').catch(() => '');
    return name.trim();
  });
  return (await Promise.all(names)).filter((name) => name !== '');
}
