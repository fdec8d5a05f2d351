/** Where a container wrote a line. */
export type LogStream = 'stdout' | 'stderr';

/** One physical line of a log file. */
export interface LogLine {
  readonly stream: LogStream;
  /** The line goes on in the next one of the same stream. */
  readonly partial: boolean;
  /** What the container wrote, with the line's end unless `partial`. */
  readonly content: Uint8Array;
  /** When, in RFC 3339. */
  readonly time: Uint8Array;
}

const SPACE = 0x20;
const NEWLINE = 0x0a;
const BRACE = 0x7b;
const PARTIAL = 0x50;
/** The fifth byte of `stdout` and `stderr` tells them apart. */
const STREAM_NAMES: readonly LogStream[] = ['stdout', 'stderr'];
const STREAM_LENGTH = 6;

/**
 * Reads one line, with its newline if it has one, in the CRI's format (`TIME stdout|stderr P|F[:tags] text`) or
 * Docker's json-file format. Undefined for anything else.
 */
export function parseLine(line: Buffer): LogLine | undefined {
  return line[0] === BRACE ? parseJsonLine(line) : parseCriLine(line);
}

function parseCriLine(line: Buffer): LogLine | undefined {
  const timeEnd = line.indexOf(SPACE);
  const streamEnd = timeEnd + 1 + STREAM_LENGTH;
  if (timeEnd < MIN_TIME || line[streamEnd] !== SPACE) return undefined;
  const stream = STREAM_NAMES.find((name) => line.toString('latin1', timeEnd + 1, streamEnd) === name);
  const tagEnd = line.indexOf(SPACE, streamEnd + 1);
  if (stream === undefined || tagEnd === -1) return undefined;
  const tag =
    line[streamEnd + 2] === SPACE || line[streamEnd + 2] === COLON ? line[streamEnd + 1] : undefined;
  const partial = tag === PARTIAL;
  const end = partial && line.at(-1) === NEWLINE ? line.length - 1 : line.length;
  return {stream, partial, content: line.subarray(tagEnd + 1, end), time: line.subarray(0, timeEnd)};
}

const COLON = 0x3a;
/** The shortest RFC 3339 time. */
const MIN_TIME = '2006-01-02T15:04:05Z'.length;

interface JsonLine {
  readonly log?: unknown;
  readonly stream?: unknown;
  readonly time?: unknown;
}

function parseJsonLine(line: Buffer): LogLine | undefined {
  const {log, stream, time} = parsed(line) ?? {};
  const known = STREAM_NAMES.find((name) => name === stream);
  if (typeof log !== 'string' || typeof time !== 'string' || known === undefined) return undefined;
  return {stream: known, partial: !log.endsWith('\n'), content: Buffer.from(log), time: Buffer.from(time)};
}

function parsed(line: Buffer): JsonLine | undefined {
  try {
    return JSON.parse(line.toString()) as JsonLine;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
