import {HttpError} from './answer.js';

/** Which part of a log is asked for (v1.PodLogOptions). */
export interface LogQuery {
  readonly tailLines: number | undefined;
  readonly limitBytes: number | undefined;
  readonly sinceSeconds: number | undefined;
  /** Ms since the epoch. */
  readonly sinceTime: number | undefined;
  readonly timestamps: boolean;
  readonly follow: boolean;
  readonly previous: boolean;
  readonly stream: 'All' | 'Stdout' | 'Stderr';
}

const STREAMS: ReadonlySet<string> = new Set(['All', 'Stdout', 'Stderr']);

/** Reads a request's query. Throws HttpError in the kubelet's words: 400 for what is no number or time, 422 for others. */
export function logQuery(query: URLSearchParams): LogQuery {
  const stream = query.get('stream') ?? 'All';
  const numbers = {
    tailLines: tailLines(query),
    limitBytes: wholeNumber(query.get('limitBytes')),
    sinceSeconds: wholeNumber(query.get('sinceSeconds')),
    sinceTime: instant(query.get('sinceTime')),
  };
  if (!isStream(stream) || !isValid(numbers, stream))
    throw new HttpError(422, '{"message": "Invalid request."}');
  return {
    ...numbers,
    timestamps: isTrue(query.get('timestamps')),
    follow: isTrue(query.get('follow')),
    previous: isTrue(query.get('previous')),
    stream,
  };
}

/** An older name of the parameter is known too. */
function tailLines(query: URLSearchParams): number | undefined {
  const tail = query.get('tail') ?? '';
  return tail === 'all' ? undefined : wholeNumber(tail === '' ? query.get('tailLines') : tail);
}

type LogNumbers = Pick<LogQuery, 'tailLines' | 'limitBytes' | 'sinceSeconds' | 'sinceTime'>;

/** ValidatePodLogOptions. */
function isValid({tailLines, limitBytes, sinceSeconds, sinceTime}: LogNumbers, stream: string): boolean {
  if (tailLines !== undefined && (tailLines < 0 || stream !== 'All')) return false;
  if (limitBytes !== undefined && limitBytes < 1) return false;
  return sinceSeconds === undefined || (sinceSeconds >= 1 && sinceTime === undefined);
}

function isStream(text: string): text is LogQuery['stream'] {
  return STREAMS.has(text);
}

/** As API machinery reads a query: what is there is true unless it says otherwise. */
function isTrue(text: string | null): boolean {
  return text !== null && !['false', '0'].includes(text.toLowerCase());
}

function wholeNumber(text: string | null): number | undefined {
  if (text === null) return undefined;
  const value = Number(text);
  if (!/^[+-]?\d+$/.test(text) || !Number.isSafeInteger(value)) throw undecodable();
  return value;
}

const RFC3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/;

function instant(text: string | null): number | undefined {
  if (text === null || text === '' || text === 'null') return undefined;
  const time = RFC3339.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time)) throw undecodable();
  return time;
}

function undecodable(): HttpError {
  return new HttpError(400, '{"message": "Unable to decode query."}');
}
