import {performance} from 'node:perf_hooks';
import {byKey} from '../../../base/compare.js';
import {formatCompactJson, type JsonObject} from '../../../format/json.js';
import {formatRfc3339Seconds} from '../../../format/time.js';
import {formatYaml} from '../../../format/yaml.js';
import {HttpError, textResponse, type KubeletResponse, type KubeletRequest} from '../kubelet-response.js';
import type {ServerOptions} from '../http-server-options.js';
import type {Route} from '../router.js';

const COMPONENT = 'kubelet';
const API_GROUP = 'config.k8s.io';
/** Versions of the structured pages; true if the version is deprecated. */
const VERSIONS: ReadonlyMap<string, boolean> = new Map([
  ['v1alpha1', true],
  ['v1beta1', false],
]);
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
    registeredAs: 'exact',
    methods: ['GET'],
    handle: async (request) => Promise.resolve(page(request, 'Flagz', flagzPage(program.flags))),
  };
  const statusz: Route = {
    pattern: '/statusz',
    registeredAs: 'exact',
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

/** Content of a page, as text and as an object. */
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

const FORMATS: Readonly<Record<string, (page: JsonObject) => string>> = {
  'application/json': formatCompactJson,
  'application/yaml': formatYaml,
};
/** Media types for which the page is text. */
const TEXT_TYPES: ReadonlySet<string> = new Set(['*/*', 'text/*', 'text/plain']);

/**
 * Returns the page as text, JSON or YAML, as the Accept header requests (statusz.go handleStatusz). Structured pages need
 * the parameters `g`, `v` and `as`. Throws HttpError 406 for other media types.
 */
function page({raw: {headers}}: KubeletRequest, kind: string, content: Page): KubeletResponse {
  const {accept = ''} = headers;
  for (const each of (accept.trim() === '' ? '*/*' : accept).split(',')) {
    const type = parseMediaType(each);
    const response = textPage(type, content) ?? structuredPage(type, kind, content);
    if (response !== undefined) return response;
  }
  throw new HttpError(
    406,
    'only the following media types are accepted: application/json, application/yaml, text/plain\n',
  );
}

function textPage(
  {type, parameters: {g, v, as}}: MediaType,
  {title, lines}: Page,
): KubeletResponse | undefined {
  if (!TEXT_TYPES.has(type) || (g ?? v ?? as) !== undefined) return undefined;
  return textResponse(`\n${COMPONENT} ${title}\n${WARNING}\n\n${lines.map((line) => `${line}\n`).join('')}`);
}

function structuredPage(
  {type, parameters: {g, v = '', as}}: MediaType,
  kind: string,
  {members}: Page,
): KubeletResponse | undefined {
  const format = FORMATS[type];
  const isDeprecated = VERSIONS.get(v);
  if (format === undefined || isDeprecated === undefined || g !== API_GROUP || as !== kind) return undefined;
  const apiVersion = `${API_GROUP}/${v}`;
  const body = format({kind, apiVersion, metadata: {name: COMPONENT}, ...members});
  const endpoint = kind.toLowerCase();
  const warning = `299 - "This version of the ${endpoint} endpoint is deprecated. Please use a newer version."`;
  return {kind: 'buffered', status: 200, type, body, ...(isDeprecated && {headers: {warning}})};
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
