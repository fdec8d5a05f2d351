import {encodeMessage} from '../../../cri/codec.js';
import {SchemaSet} from '../../../cri/message-schema.js';

/** Meaning and unit of a value, such as `cpu` in `nanoseconds`. */
export interface ValueType {
  readonly type: string;
  readonly unit: string;
}

/** Function on a stack. Lines start at 1; 0 if unknown. */
export interface Frame {
  readonly name: string;
  /** Path or URL of the source; empty for code without one. */
  readonly file: string;
  /** Line at which the function starts. */
  readonly startLine: number;
  /** Line that was executed. */
  readonly line: number;
}

/** Stack with a value for each sample type of the profile. */
export interface Sample {
  /** Innermost function first. */
  readonly stack: readonly Frame[];
  readonly values: readonly number[];
}

/** Profile in the terms of pprof's profile.proto. */
export interface PprofProfile {
  readonly sampleTypes: readonly ValueType[];
  readonly samples: readonly Sample[];
  /** Start of the recording, in ms since the epoch. */
  readonly timeMs: number;
  readonly durationMs: number;
  readonly periodType?: ValueType;
  /** Distance of two samples, in the unit of `periodType`. */
  readonly period?: number;
  /** Text for people, which `pprof -comments` prints. */
  readonly comment?: string;
}

/** The part of profile.proto that is written, in the form of the generated tables. */
const SCHEMAS = new SchemaSet({
  messages: {
    Profile: [
      'sample_type 1 []ValueType;sample 2 []Sample;location 4 []Location;function 5 []Function',
      'string_table 6 []string;time_nanos 9 int64;duration_nanos 10 int64;period_type 11 ValueType',
      'period 12 int64;comment 13 []int64',
    ].join(';'),
    ValueType: 'type 1 int64;unit 2 int64',
    Sample: 'location_id 1 []uint64;value 2 []int64',
    Location: 'id 1 uint64;line 4 []Line',
    Line: 'function_id 1 uint64;line 2 int64',
    Function: 'id 1 uint64;name 2 int64;system_name 3 int64;filename 4 int64;start_line 5 int64',
  },
  enums: {},
});

const NANOS_PER_MS = 1e6;

/** Encodes a profile as a profile.proto, which is to be compressed with gzip. Pure. */
export function encodePprof(profile: PprofProfile): Buffer {
  const strings = new Interned<string>((text) => text);
  strings.indexOf('');
  const text = (value: string): bigint => BigInt(strings.indexOf(value));
  const valueType = ({type, unit}: ValueType): object => ({type: text(type), unit: text(unit)});
  const functions = new Interned<Frame>(({name, file, startLine}) => `${startLine}\0${name}\0${file}`);
  const locations = new Interned<Frame>((frame) => `${frame.line}\0${functions.indexOf(frame)}`);
  const {sampleTypes, samples, timeMs, durationMs, periodType, period = 0, comment} = profile;
  const sample = samples.map(({stack, values}) => ({
    locationId: stack.map((frame) => BigInt(locations.indexOf(frame) + 1)),
    value: values.map(toInteger),
  }));
  const location = locations.items.map((frame, index) => ({
    id: BigInt(index + 1),
    line: [{functionId: BigInt(functions.indexOf(frame) + 1), line: BigInt(frame.line)}],
  }));
  const functionMessages = functions.items.map(({name, file, startLine}, index) => ({
    ...{id: BigInt(index + 1), name: text(name), systemName: text(name)},
    ...{filename: text(file), startLine: BigInt(startLine)},
  }));
  return encodeMessage(SCHEMAS.message('Profile'), {
    sampleType: sampleTypes.map(valueType),
    sample,
    location,
    function: functionMessages,
    timeNanos: toInteger(timeMs * NANOS_PER_MS),
    durationNanos: toInteger(durationMs * NANOS_PER_MS),
    periodType: periodType && valueType(periodType),
    period: toInteger(period),
    comment: comment === undefined ? [] : [text(comment)],
    stringTable: strings.items,
  });
}

/**
 * Formats a profile as text in the manner of Go's legacy format: for each stack its values, and a line with function and
 * position for each of its functions. Pure.
 */
export function formatPprof(name: string, {sampleTypes, samples}: PprofProfile): string {
  const totals = sampleTypes.map((_, index) =>
    samples.reduce((sum, {values}) => sum + (values[index] ?? 0), 0),
  );
  const units = sampleTypes.map(({type, unit}) => `${type}/${unit}`).join(' ');
  const paragraphs = samples
    .toSorted((one, other) => (other.values[0] ?? 0) - (one.values[0] ?? 0))
    .map(({stack, values}) => `${values.map(Math.round).join(' ')} @\n${stack.map(frameLine).join('')}\n`);
  return `${name} profile: total ${totals.map(Math.round).join(' ')} (${units})\n${paragraphs.join('')}`;
}

function frameLine({name, file, line}: Frame): string {
  return file === '' ? `#\t${name}\n` : `#\t${name}\t${file}:${line}\n`;
}

function toInteger(value: number): bigint {
  return BigInt(Math.round(value));
}

/** Numbers items in the order of their first use; items of the same key are the same. */
class Interned<T> {
  readonly items: T[] = [];
  readonly #indexes = new Map<string, number>();
  readonly #keyOf: (item: T) => string;

  constructor(keyOf: (item: T) => string) {
    this.#keyOf = keyOf;
  }

  indexOf(item: T): number {
    const key = this.#keyOf(item);
    const known = this.#indexes.get(key);
    if (known !== undefined) return known;
    this.#indexes.set(key, this.items.length);
    return this.items.push(item) - 1;
  }
}
