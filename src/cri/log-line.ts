/** The stream that a container wrote a line to. */
export type LogStream = 'stdout' | 'stderr';

/** One physical line of a log file. */
export interface LogLine {
  readonly stream: LogStream;
  /** True if the next line of the same stream continues this one. */
  readonly partial: boolean;
  /** Output of the container, with the newline unless `partial`. */
  readonly content: Uint8Array;
  /** Time of the line, in RFC 3339. */
  readonly time: Uint8Array;
}

const SPACE = 0x20;
const NEWLINE = 0x0a;
const BRACE = 0x7b;
const PARTIAL = 0x50;
const COLON = 0x3a;
const DASH = 0x2d;
const PLUS = 0x2b;
const DOT = 0x2e;
const LETTER_T = 0x54;
const LETTER_Z = 0x5a;
const ZERO = 0x30;
const EMPTY = Buffer.allocUnsafe(0);
const STDOUT = Buffer.from('stdout ');
const STDERR = Buffer.from('stderr ');
/** Length of the shortest RFC 3339 time. */
const MIN_TIME = '2006-01-02T15:04:05Z'.length;

/**
 * One physical line as offsets into buffers. A reader of many lines reuses one LineView, so that no line allocates an
 * object; its fields are valid until the next scan.
 */
export class LineView {
  stream: LogStream = 'stdout';
  partial = false;
  /** Output of the container: `bytes` between `from` and `to`, with the newline unless `partial`. */
  bytes: Buffer = EMPTY;
  from = 0;
  to = 0;
  /** Time of the line in RFC 3339: `timeBytes` between `timeFrom` and `timeTo`. */
  timeBytes: Buffer = EMPTY;
  timeFrom = 0;
  timeTo = 0;
  /** Time of the line in whole seconds since the epoch, and the remaining nanoseconds. */
  seconds = 0;
  nanos = 0;

  /**
   * Reads the line of `text` between `start` and `end`, with its newline if it has one, in the CRI log format (`TIME
   * stdout|stderr P|F[:tags] text`) or Docker's json-file format. Returns false for anything else.
   */
  scan(text: Buffer, start: number, end: number): boolean {
    return text[start] === BRACE ? this.#scanJson(text, start, end) : this.#scanCri(text, start, end);
  }

  #scanCri(text: Buffer, start: number, end: number): boolean {
    const timeEnd = nextSpace(text, start + MIN_TIME, end);
    const tagStart = timeEnd + 1 + STDOUT.length;
    const tagEnd = nextSpace(text, tagStart, end);
    if (tagEnd >= end || !this.#scanTime(text, start, timeEnd)) return false;
    if (isAt(text, timeEnd + 1, STDOUT)) this.stream = 'stdout';
    else if (isAt(text, timeEnd + 1, STDERR)) this.stream = 'stderr';
    else return false;
    const next = text[tagStart + 1];
    this.partial = text[tagStart] === PARTIAL && (next === SPACE || next === COLON);
    this.bytes = text;
    this.from = tagEnd + 1;
    this.to = this.partial && text[end - 1] === NEWLINE ? end - 1 : end;
    return true;
  }

  #scanJson(text: Buffer, start: number, end: number): boolean {
    const {log, stream, time} = parsedJson(text.toString('utf8', start, end)) ?? {};
    if (typeof log !== 'string' || typeof time !== 'string') return false;
    const timeBytes = Buffer.from(time);
    if ((stream !== 'stdout' && stream !== 'stderr') || !this.#scanTime(timeBytes, 0, timeBytes.length))
      return false;
    this.stream = stream;
    this.partial = !log.endsWith('\n');
    this.bytes = Buffer.from(log);
    this.from = 0;
    this.to = this.bytes.length;
    return true;
  }

  /** Reads an RFC 3339 time. The fraction may have any number of digits, of which nine count. */
  #scanTime(text: Buffer, start: number, end: number): boolean {
    const seconds = civilSeconds(text, start);
    let at = start + 19;
    let nanos = 0;
    if (text[at] === DOT) {
      const first = ++at;
      for (let scale = 100_000_000; isDigit(text[at]); at += 1, scale = Math.trunc(scale / 10))
        nanos += ((text[at] ?? 0) - ZERO) * scale;
      if (at === first) return false;
    }
    const offset = zoneSeconds(text, at, end);
    if (Number.isNaN(seconds) || Number.isNaN(offset)) return false;
    this.timeBytes = text;
    this.timeFrom = start;
    this.timeTo = end;
    this.seconds = seconds - offset;
    this.nanos = nanos;
    return true;
  }
}

/**
 * Reads one line, with its newline if it has one, in the CRI log format (`TIME stdout|stderr P|F[:tags] text`) or
 * Docker's json-file format. Returns undefined for anything else.
 */
export function parseLine(line: Buffer): LogLine | undefined {
  const view = new LineView();
  if (!view.scan(line, 0, line.length)) return undefined;
  const {stream, partial, bytes, from, to, timeBytes, timeFrom, timeTo} = view;
  return {stream, partial, content: bytes.subarray(from, to), time: timeBytes.subarray(timeFrom, timeTo)};
}

/** Returns the offset of the next space, or `end` if there is none before it. */
function nextSpace(text: Buffer, start: number, end: number): number {
  let at = start;
  while (at < end && text[at] !== SPACE) at += 1;
  return at;
}

function isAt(text: Buffer, start: number, word: Buffer): boolean {
  for (let index = 0; index < word.length; index += 1) if (text[start + index] !== word[index]) return false;
  return true;
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= ZERO && byte <= ZERO + 9;
}

/** Returns the value of twoDigits digits, NaN for anything else. */
function twoDigits(text: Buffer, at: number): number {
  const tens = text[at];
  const units = text[at + 1];
  if (tens === undefined || units === undefined || !isDigit(tens) || !isDigit(units)) return NaN;
  return (tens - ZERO) * 10 + units - ZERO;
}

/** Returns the seconds from the epoch to `2006-01-02T15:04:05` as UTC, NaN for anything else. */
function civilSeconds(text: Buffer, at: number): number {
  if (text[at + 4] !== DASH || text[at + 7] !== DASH || text[at + 10] !== LETTER_T) return NaN;
  if (text[at + 13] !== COLON || text[at + 16] !== COLON) return NaN;
  const days = daysSinceEpoch(
    twoDigits(text, at) * 100 + twoDigits(text, at + 2),
    twoDigits(text, at + 5),
    twoDigits(text, at + 8),
  );
  const hours = twoDigits(text, at + 11);
  const minutes = twoDigits(text, at + 14);
  const seconds = twoDigits(text, at + 17);
  return hours < 24 && minutes < 60 && seconds < 60
    ? ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    : NaN;
}

/**
 * Returns the days since 1970-01-01 in the Gregorian calendar, computed in years that start in March. NaN for an
 * invalid date.
 */
function daysSinceEpoch(year: number, month: number, day: number): number {
  if (!(month >= 1 && month <= 12 && day >= 1 && day <= daysOf(year, month))) return NaN;
  const marchYear = month > 2 ? year : year - 1;
  const era = Math.floor(marchYear / 400);
  const yearOfEra = marchYear - era * 400;
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1;
  const leapDays = Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100);
  return era * 146_097 + yearOfEra * 365 + leapDays + dayOfYear - 719_468;
}

function daysOf(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** Returns the offset of a zone (`Z` or `+01:00`) from UTC in seconds; NaN unless the zone ends exactly at `end`. */
function zoneSeconds(text: Buffer, at: number, end: number): number {
  if (text[at] === LETTER_Z) return at + 1 === end ? 0 : NaN;
  const sign = text[at] === PLUS ? 1 : text[at] === DASH ? -1 : NaN;
  if (text[at + 3] !== COLON || at + 6 !== end) return NaN;
  return sign * (twoDigits(text, at + 1) * 60 + twoDigits(text, at + 4)) * 60;
}

interface JsonLine {
  readonly log?: unknown;
  readonly stream?: unknown;
  readonly time?: unknown;
}

function parsedJson(line: string): JsonLine | undefined {
  try {
    return JSON.parse(line) as JsonLine;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
