import {UsageError} from '../../../base/errors.js';
import {goQuote} from '../../../format/go-quote.js';
import {compileGoRegexp} from '../../../operations/filters/go-regexp.js';

/** Query of the logs of services, or of one file of the log directory (nodeLogQuery). */
export interface NodeLogQuery {
  readonly services: readonly string[];
  readonly files: readonly string[];
  readonly options: NodeLogOptions;
}

/** Options of a query; they apply to services that log to the journal. */
export interface NodeLogOptions {
  /** Times in ms since the epoch. */
  readonly sinceTime?: number;
  readonly untilTime?: number;
  readonly tailLines?: number;
  /** Offset of the boot whose messages are shown: 0 is the current one, -1 the one before. */
  readonly boot?: number;
  readonly pattern?: string;
}

/** Result of parsing a query: invalid values, each as the kubelet reports it, or else the query; undefined without one. */
export type ParsedNodeLogQuery =
  | {readonly kind: 'parsed'; readonly query: NodeLogQuery | undefined}
  | {readonly kind: 'invalid'; readonly problems: readonly string[]};

const MAX_TAIL_LINES = 100_000;
const MAX_SERVICE_LENGTH = 256;
const MAX_SERVICES = 4;
const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:\d\d)$/;

/** Parses the parameters of a request (newNodeLogQuery). A value with a slash names a file, any other a service. */
export function parseNodeLogQuery(parameters: URLSearchParams): ParsedNodeLogQuery {
  const problems: string[] = [];
  const queries = parameters.getAll('query');
  const files = queries.filter((query) => /[/\\]/.test(query));
  const services = queries.filter((query) => !/[/\\]/.test(query) && query.trim() !== '');
  if (parameters.has('query') && files.length === 0 && services.length === 0)
    problems.push(invalid('query', JSON.stringify(queries), 'query cannot be empty'));
  const time = (name: string): number | undefined => {
    const text = parameters.get(name) ?? '';
    if (text === '') return undefined;
    const ms = RFC_3339.test(text) ? Date.parse(text.replace(',', '.')) : Number.NaN;
    if (Number.isNaN(ms)) problems.push(invalid(name, goQuote(text), 'invalid time format'));
    return ms;
  };
  const integer = (name: string): number | undefined => {
    const text = parameters.get(name) ?? '';
    if (text === '') return undefined;
    const number = /^[+-]?\d+$/.test(text) ? Number(text) : Number.NaN;
    const problem = Number.isNaN(number) ? 'invalid syntax' : 'value out of range';
    if (!Number.isSafeInteger(number))
      problems.push(invalid(name, goQuote(text), `strconv.Atoi: parsing ${goQuote(text)}: ${problem}`));
    return number;
  };
  const pattern = parameters.get('pattern') ?? '';
  const options = withoutUndefined({
    sinceTime: time('sinceTime'),
    untilTime: time('untilTime'),
    boot: integer('boot'),
    tailLines: integer('tailLines'),
    pattern: pattern === '' ? undefined : pattern,
  });
  if (problems.length > 0) return {kind: 'invalid', problems};
  const isEmpty = queries.length === 0 && Object.keys(options).length === 0;
  return {kind: 'parsed', query: isEmpty ? undefined : {services, files, options}};
}

/** Returns what is wrong with a query, with the kubelet's texts (nodeLogQuery.validate). */
export async function validateNodeLogQuery({
  services,
  files,
  options,
}: NodeLogQuery): Promise<readonly string[]> {
  const problems = services.flatMap(serviceProblems);
  if (services.length > MAX_SERVICES)
    problems.push(`query: Too many: ${services.length}: must have at most ${MAX_SERVICES} items`);
  const value = JSON.stringify(files);
  if (files.length === 0 && services.length === 0)
    problems.push('query: Required value: cannot be empty with options');
  else if (files.length > 0 && services.length > 0) {
    const both = `[${files.join(' ')}], [${services.join(' ')}]`;
    problems.push(invalid('query', goQuote(both), 'cannot specify a file and service'));
  } else if (files.length > 1) problems.push(invalid('query', value, 'cannot specify more than one file'));
  else if (files.length === 1 && hasOptions(options))
    problems.push(invalid('query', value, 'cannot specify file with options'));
  return [...problems, ...optionProblems(options), ...(await patternProblems(options))];
}

function serviceProblems(service: string): string[] {
  const problem = (detail: string): string => invalid('query', goQuote(service), detail);
  if (Buffer.byteLength(service) > MAX_SERVICE_LENGTH)
    return [problem(`length must be less than ${MAX_SERVICE_LENGTH}`)];
  // Nothing else reaches the command line of journalctl(1); the service follows `--unit=`.
  return /[^a-zA-Z\-_.:0-9@]/.test(service) ? [problem('input contains unsupported characters')] : [];
}

function optionProblems({sinceTime, untilTime, boot, tailLines}: NodeLogOptions): readonly string[] {
  const problems: string[] = [];
  if (sinceTime !== undefined && untilTime !== undefined && sinceTime > untilTime) {
    const until = new Date(untilTime).toISOString().replace('.000', '');
    problems.push(invalid('untilTime', JSON.stringify(until), 'must be after `sinceTime`'));
  }
  if (boot !== undefined && boot > 0) problems.push(invalid('boot', String(boot), 'must be less than 1'));
  if (tailLines !== undefined && (tailLines < 0 || tailLines > MAX_TAIL_LINES))
    problems.push(
      invalid('tailLines', String(tailLines), `must be between 0 and ${MAX_TAIL_LINES}, inclusive`),
    );
  return problems;
}

async function patternProblems({pattern}: NodeLogOptions): Promise<readonly string[]> {
  if (pattern === undefined) return [];
  try {
    await compileGoRegexp(pattern);
    return [];
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return [invalid('pattern', goQuote(pattern), error.message)];
  }
}

/** Reports whether a query has options, which files do not support. */
export function hasOptions(options: NodeLogOptions): boolean {
  return Object.keys(options).length > 0;
}

/** Returns the arguments of journalctl(1) for these services (getLoggingCmd). */
export function journalArguments(
  services: readonly string[],
  {sinceTime, untilTime, tailLines, pattern, boot}: NodeLogOptions,
): readonly string[] {
  return [
    ...['--utc', '--no-pager', '--output=short-precise'],
    ...(sinceTime === undefined ? [] : [`--since=${journalTime(sinceTime)}`]),
    ...(untilTime === undefined ? [] : [`--until=${journalTime(untilTime)}`]),
    ...(tailLines === undefined ? [] : ['--pager-end', `--lines=${tailLines}`]),
    ...services.map((service) => `--unit=${service}`),
    ...(pattern === undefined ? [] : [`--grep=${pattern}`]),
    ...(boot === undefined ? [] : [`--boot=${boot}`]),
  ];
}

/** Formats a time for journalctl(1), which would read one without a zone as local. */
function journalTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

function invalid(field: string, value: string, detail: string): string {
  return `${field}: Invalid value: ${value}: ${detail}`;
}

function withoutUndefined(options: {
  readonly [Name in keyof NodeLogOptions]: NodeLogOptions[Name] | undefined;
}): NodeLogOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}
