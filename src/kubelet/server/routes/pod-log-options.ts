import {HttpError} from '../kubelet-response.js';

/** Options of a log request (v1.PodLogOptions). */
export interface PodLogOptions {
  readonly tailLines: number | undefined;
  readonly limitBytes: number | undefined;
  readonly sinceSeconds: number | undefined;
  /** Start time of the log, in ms since the epoch. */
  readonly sinceTime: number | undefined;
  readonly timestamps: boolean;
  readonly follow: boolean;
  readonly previous: boolean;
  readonly stream: 'All' | 'Stdout' | 'Stderr';
}

const STREAMS: ReadonlySet<string> = new Set(['All', 'Stdout', 'Stderr']);

/**
 * Parses the query of a log request. Throws HttpError with the kubelet's message: 400 if a number or time cannot be
 * parsed, 422 for other invalid options.
 */
export function parsePodLogOptions(query: URLSearchParams): PodLogOptions {
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

/** Returns `tailLines`, or its older name `tail`. */
function tailLines(query: URLSearchParams): number | undefined {
  const tail = query.get('tail') ?? '';
  return tail === 'all' ? undefined : wholeNumber(tail === '' ? query.get('tailLines') : tail);
}

type LogNumbers = Pick<PodLogOptions, 'tailLines' | 'limitBytes' | 'sinceSeconds' | 'sinceTime'>;

/** Validates the options (ValidatePodLogOptions). */
function isValid({tailLines, limitBytes, sinceSeconds, sinceTime}: LogNumbers, stream: string): boolean {
  if (tailLines !== undefined && (tailLines < 0 || stream !== 'All')) return false;
  if (limitBytes !== undefined && limitBytes < 1) return false;
  return sinceSeconds === undefined || (sinceSeconds >= 1 && sinceTime === undefined);
}

function isStream(text: string): text is PodLogOptions['stream'] {
  return STREAMS.has(text);
}

/** Parses a boolean as apimachinery does: a present parameter is true unless it is `false` or `0`. */
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
