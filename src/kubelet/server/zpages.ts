import {performance} from 'node:perf_hooks';
import {byKey} from '../../base/compare.js';
import {jsonLine, type JsonObject} from '../../format/json.js';
import {HttpError, json, text, type Answer, type KubeletRequest} from './answer.js';
import type {ServerOptions} from './options.js';
import type {Route} from './routes.js';

const COMPONENT = 'kubelet';
const API_VERSION = 'config.k8s.io/v1alpha1';
/** As which kubelet kcri behaves. */
const EMULATED = '1.36';
const WARNING =
  'Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.';

/** What is told of the process (component-base zpages), as far as the feature gates don't take it away. */
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
  const paths = rootsOf([...others, ...routes]);
  return routes;
}

/** The first parts of paths, in order. */
function rootsOf(routes: readonly Route[]): readonly string[] {
  return [...new Set(routes.map(({pattern}) => `/${pattern.split('/')[1] ?? ''}`))].toSorted();
}

/** The same for people and for programs. */
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
  const up = Math.max(0, Math.trunc((nowMs - performance.timeOrigin) / 1000));
  return {
    title: 'statusz',
    lines: [
      `Started: ${unixDate(startedAt)}`,
      `Up: ${Math.trunc(up / 3600)} hr ${twoDigits(Math.trunc(up / 60) % 60)} min ${twoDigits(up % 60)} sec`,
      `Node.js version: ${process.version}`,
      `Binary version: ${version}`,
      `Emulation version: ${EMULATED}`,
      `Paths: ${paths.join(' ')}`,
    ],
    members: {
      startTime: startedAt.toISOString().replace(/\.\d+Z$/, 'Z'),
      uptimeSeconds: up,
      // It isn't a Go program.
      goVersion: '',
      binaryVersion: version,
      emulationVersion: EMULATED,
      paths,
    },
  };
}

/** `Wed Oct 16 21:03:43 UTC 2024`. */
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

/** Throws HttpError 406 for what neither form is. */
function page({raw: {headers}}: KubeletRequest, kind: string, {title, lines, members}: Page): Answer {
  const wanted = (headers.accept ?? '*/*').split(',').map((each) => mediaType(each));
  for (const {type, parameters} of wanted) {
    if (['*/*', 'text/*', 'text/plain'].includes(type))
      return text(`\n${COMPONENT} ${title}\n${WARNING}\n\n${lines.map((line) => `${line}\n`).join('')}`);
    const {g, v, as} = parameters;
    if (type === 'application/json' && `${String(g)}/${String(v)}` === API_VERSION && as === kind)
      return json(jsonLine({kind, apiVersion: API_VERSION, metadata: {name: COMPONENT}, ...members}));
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

function mediaType(words: string): MediaType {
  const [type = '', ...parameters] = words.split(';').map((word) => word.trim());
  const valueOf = (name: string): string | undefined =>
    parameters.find((each) => each.startsWith(`${name}=`))?.slice(name.length + 1);
  return {type: type.toLowerCase(), parameters: {g: valueOf('g'), v: valueOf('v'), as: valueOf('as')}};
}
