import {performance} from 'node:perf_hooks';
import {byKey} from '../../../../base/compare.js';
import {formatCompactJson, type JsonObject} from '../../../../format/json.js';
import {formatRfc3339Seconds} from '../../../../format/time.js';
import {
  HttpError,
  jsonResponse,
  textResponse,
  type KubeletResponse,
  type KubeletRequest,
} from '../kubelet-response.js';
import type {ServerOptions} from '../http-server-options.js';
import type {Route} from '../router.js';

const COMPONENT = 'kubelet';
const API_VERSION = 'config.k8s.io/v1alpha1';
/** Version of the kubelet that kcri emulates. */
const EMULATION_VERSION = '1.36';
const WARNING =
  'Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.';

/** Returns the routes of /flagz and /statusz (component-base zpages), unless their feature gates are disabled. */
export function zpageRoutes(
  {program, configuration, clock}: Pick<ServerOptions, 'program' | 'configuration' | 'clock'>,
  others: readonly Route[],
): readonly Route[] {
  if (program === undefined) return [];
  const gates = (configuration['featureGates'] ?? {}) as Readonly<Record<string, boolean>>;
  const flagz: Route = {
    pattern: '/flagz',
    methods: ['GET'],
    handle: async (request) => Promise.resolve(page(request, 'Flagz', flagzPage(program.flags))),
  };
  const statusz: Route = {
    pattern: '/statusz',
    methods: ['GET'],
    handle: async (request) =>
      Promise.resolve(page(request, 'Statusz', statuszPage(program.version, clock.now(), paths))),
  };
  const routes = [
    ...(gates['ComponentFlagz'] === false ? [] : [flagz]),
    ...(gates['ComponentStatusz'] === false ? [] : [statusz]),
  ];
  const paths = rootPaths([...others, ...routes]);
  return routes;
}

/** Returns the first segments of the routes' paths, sorted. */
function rootPaths(routes: readonly Route[]): readonly string[] {
  return [...new Set(routes.map(({pattern}) => `/${pattern.split('/')[1] ?? ''}`))].toSorted();
}

/** Content of a page, as text and as JSON. */
interface Page {
  readonly title: string;
  readonly lines: readonly string[];
  readonly members: JsonObject;
}

function flagzPage(flags: Readonly<Record<string, string>>): Page {
  const sorted = Object.entries(flags).toSorted(byKey);
  return {
    title: 'flags',
    lines: sorted.map(([name, value]) => `${name}=${value}`),
    members: {flags: Object.fromEntries(sorted)},
  };
}

function statuszPage(version: string, nowMs: number, paths: readonly string[]): Page {
  const startedAt = new Date(performance.timeOrigin);
  const uptime = Math.max(0, Math.trunc((nowMs - performance.timeOrigin) / 1000));
  return {
    title: 'statusz',
    lines: [
      `Started: ${unixDate(startedAt)}`,
      `Up: ${Math.trunc(uptime / 3600)} hr ${twoDigits(Math.trunc(uptime / 60) % 60)} min ${twoDigits(uptime % 60)} sec`,
      `Node.js version: ${process.version}`,
      `Binary version: ${version}`,
      `Emulation version: ${EMULATION_VERSION}`,
      `Paths: ${paths.join(' ')}`,
    ],
    members: {
      startTime: formatRfc3339Seconds(startedAt.getTime()),
      uptimeSeconds: uptime,
      // kcri is not a Go program.
      goVersion: '',
      binaryVersion: version,
      emulationVersion: EMULATION_VERSION,
      paths,
    },
  };
}

/** Formats a date like Go's time.UnixDate: `Wed Oct 16 21:03:43 UTC 2024`. */
function unixDate(date: Date): string {
  const [weekday = '', day = '', month = '', year = '', time = ''] = date
    .toUTCString()
    .replace(',', '')
    .split(' ');
  return `${weekday} ${month} ${String(Number(day)).padStart(2)} ${time} UTC ${year}`;
}

function twoDigits(number: number): string {
  return String(number).padStart(2, '0');
}

/** Returns the page as text or JSON, as the Accept header requests. Throws HttpError 406 for other media types. */
function page(
  {raw: {headers}}: KubeletRequest,
  kind: string,
  {title, lines, members}: Page,
): KubeletResponse {
  const accepted = (headers.accept ?? '*/*').split(',').map((each) => parseMediaType(each));
  for (const {type, parameters} of accepted) {
    if (['*/*', 'text/*', 'text/plain'].includes(type))
      return textResponse(
        `\n${COMPONENT} ${title}\n${WARNING}\n\n${lines.map((line) => `${line}\n`).join('')}`,
      );
    const {g, v, as} = parameters;
    if (type === 'application/json' && `${String(g)}/${String(v)}` === API_VERSION && as === kind)
      return jsonResponse(
        formatCompactJson({kind, apiVersion: API_VERSION, metadata: {name: COMPONENT}, ...members}),
      );
  }
  throw new HttpError(
    406,
    `media type not acceptable, must be: text/plain, application/json;v=v1alpha1;g=config.k8s.io;as=${kind}\n`,
  );
}

interface MediaType {
  readonly type: string;
  readonly parameters: Readonly<Record<'g' | 'v' | 'as', string | undefined>>;
}

function parseMediaType(text: string): MediaType {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim());
  const valueOf = (name: string): string | undefined =>
    parameters.find((each) => each.startsWith(`${name}=`))?.slice(name.length + 1);
  return {type: type.toLowerCase(), parameters: {g: valueOf('g'), v: valueOf('v'), as: valueOf('as')}};
}
