/** Profile as a reader of profile.proto sees it; stacks are `function file:line` texts, innermost first. */
export interface ReadProfile {
  readonly sampleTypes: readonly string[];
  readonly samples: readonly {readonly stack: readonly string[]; readonly values: readonly number[]}[];
  readonly startLines: Readonly<Record<string, number>>;
  readonly timeNanos: number;
  readonly durationNanos: number;
  readonly periodType: string;
  readonly period: number;
  readonly comments: readonly string[];
}

type Field = number | Buffer;

/** Reads a profile.proto independently of the encoder of kcri. */
export function readPprof(bytes: Buffer): ReadProfile {
  const profile = readMessage(bytes);
  const strings = messages(profile, 6).map(String);
  if (strings[0] !== '') throw new Error('the first string must be empty');
  const text = (index: number): string => strings[index] ?? `no string ${index}`;
  const valueType = (type: Fields): string => `${text(number(type, 1))}/${text(number(type, 2))}`;
  const functions = new Map(subMessages(profile, 5).map((each) => [number(each, 1), each]));
  const frameOf = (line: Fields): string => {
    const each = functions.get(number(line, 1)) ?? new Map<number, readonly Field[]>();
    return `${text(number(each, 2))} ${text(number(each, 4))}:${number(line, 2)}`;
  };
  const locations = new Map(
    subMessages(profile, 4).map((each) => [number(each, 1), subMessages(each, 4).map(frameOf)]),
  );
  return {
    sampleTypes: subMessages(profile, 1).map(valueType),
    samples: subMessages(profile, 2).map((each) => ({
      stack: numbers(each, 1).flatMap((id) => locations.get(id) ?? [`no location ${id}`]),
      values: numbers(each, 2),
    })),
    startLines: Object.fromEntries(
      [...functions.values()].map((each) => [text(number(each, 2)), number(each, 5)]),
    ),
    timeNanos: number(profile, 9),
    durationNanos: number(profile, 10),
    periodType: subMessages(profile, 11).map(valueType).join(),
    period: number(profile, 12),
    comments: numbers(profile, 13).map(text),
  };
}

type Fields = ReadonlyMap<number, readonly Field[]>;

function readMessage(bytes: Buffer): Fields {
  const fields = new Map<number, Field[]>();
  for (let at = 0; at < bytes.length;) {
    const [tag, start] = readVarint(bytes, at);
    const [number, next] = readVarint(bytes, start);
    if ((tag & 7) !== 0 && (tag & 7) !== 2) throw new Error(`unexpected wire type ${tag & 7}`);
    const isNumber = (tag & 7) === 0;
    const value = isNumber ? number : bytes.subarray(next, next + number);
    fields.set(tag >> 3, [...(fields.get(tag >> 3) ?? []), value]);
    at = isNumber ? next : next + number;
  }
  return fields;
}

function readVarint(bytes: Buffer, at: number): [value: number, next: number] {
  let value = 0;
  for (let factor = 1; ; factor *= 128) {
    const byte = bytes[at++];
    if (byte === undefined) throw new Error('truncated');
    value += (byte % 128) * factor;
    if (byte < 128) return [value, at];
  }
}

function messages(fields: Fields, id: number): readonly Buffer[] {
  return (fields.get(id) ?? []).filter((value) => typeof value !== 'number');
}

function subMessages(fields: Fields, id: number): readonly Fields[] {
  return messages(fields, id).map(readMessage);
}

/** Reads a repeated number, packed or not. */
function numbers(fields: Fields, id: number): readonly number[] {
  return (fields.get(id) ?? []).flatMap((value) => {
    if (typeof value === 'number') return [value];
    const list: number[] = [];
    for (let at = 0; at < value.length;) {
      const [item, next] = readVarint(value, at);
      list.push(item);
      at = next;
    }
    return list;
  });
}

function number(fields: Fields, id: number): number {
  return numbers(fields, id)[0] ?? 0;
}
