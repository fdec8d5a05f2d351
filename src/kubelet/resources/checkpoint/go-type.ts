import {goJson} from '../../../api/container-hash.js';
import {byKey, compare} from '../../../base/compare.js';
import {SystemError} from '../../../base/errors.js';
import {isObject} from '../../../base/is-object.js';

/**
 * A type of Go: how go-spew prints its values for a hash (dump.ForHash), and how encoding/json writes and reads them. Nil
 * maps, slices and pointers are undefined.
 */
export interface GoType<T> {
  /** Name with its package, such as `v1.ResourceName`. */
  readonly name: string;
  /** Prints a value where its type is known, as in a map. */
  readonly dump: (value: T) => string;
  /** Prints a value where its type is not known, as in a struct. */
  readonly dumpTyped: (value: T) => string;
  readonly toJson: (value: T) => string;
  /** Returns the value of parsed JSON; null leaves the value before. Throws SystemError with Go's text. */
  readonly fromJson: (json: unknown, before: T, place: Place) => T;
  readonly zero: T;
  /** Reports whether `omitempty` omits the value. */
  readonly isEmpty: (value: T) => boolean;
}

/** Location of a value, as Go's errors name it. */
interface Place {
  /** Innermost struct; undefined at the top. */
  readonly struct?: string;
  readonly path: readonly string[];
}

type Rendering<T> = Pick<GoType<T>, 'dump' | 'toJson' | 'fromJson' | 'zero' | 'isEmpty'>;

/** Returns a type whose values are printed with its name in parentheses. */
export function goType<T>(name: string, rendering: Rendering<T>): GoType<T> {
  return {...rendering, name, dumpTyped: (value) => `(${name})${rendering.dump(value)}`};
}

/** Reads a value from JSON text. Throws SystemError with Go's text. */
export function readGoJson<T>(type: GoType<T>, text: string, before: T): T {
  return type.fromJson(parseJson(text), before, {path: []});
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new SystemError('unexpected end of JSON input');
  }
}

/** Returns a string type. */
export function goString<T extends string = string>(name = 'string'): GoType<T> {
  return goType<T>(name, {
    dump: (value) => value,
    toJson: goJson,
    fromJson: (json, before, place) => {
      if (json === null) return before;
      if (typeof json !== 'string') throw mismatch(json, name, place);
      return json as T;
    },
    zero: '' as T,
    isEmpty: (value) => value === '',
  });
}

/** Returns an integer type, of numbers that are exact in JavaScript. */
export function goInteger(name: string): GoType<number> {
  const isUnsigned = name !== 'int' && name !== 'int64';
  return goType(name, {
    dump: String,
    toJson: String,
    fromJson: (json, before, place) => {
      if (json === null) return before;
      if (typeof json !== 'number') throw mismatch(json, name, place);
      if (!Number.isInteger(json) || (isUnsigned && json < 0))
        throw mismatch(json, name, place, ` ${String(json)}`);
      return json;
    },
    zero: 0,
    isEmpty: (value) => value === 0,
  });
}

/** Returns the type of byte slices. */
export function goBytes(): GoType<Uint8Array | undefined> {
  return goType<Uint8Array | undefined>('[]uint8', {
    dump: (value) => (value === undefined ? NIL : `[${value.join(' ')}]`),
    toJson: (value) => (value === undefined ? 'null' : `"${Buffer.from(value).toString('base64')}"`),
    fromJson: (json, _before, place) => {
      if (json === null) return undefined;
      if (typeof json !== 'string') throw mismatch(json, '[]uint8', place);
      return Buffer.from(json, 'base64');
    },
    zero: undefined,
    isEmpty: (value) => (value?.length ?? 0) === 0,
  });
}

const NIL = '<nil>';

/** Returns a slice type. */
export function goSlice<T>(name: string, element: GoType<T>): GoType<readonly T[] | undefined> {
  return goType<readonly T[] | undefined>(name, {
    dump: (values) => (values === undefined ? NIL : `[${values.map(element.dump).join(' ')}]`),
    toJson: (values) => (values === undefined ? 'null' : `[${values.map(element.toJson).join(',')}]`),
    fromJson: (json, _before, place) => {
      if (json === null) return undefined;
      if (!Array.isArray(json)) throw mismatch(json, name, place);
      return json.map((item) => element.fromJson(item, element.zero, place));
    },
    zero: undefined,
    isEmpty: (values) => (values?.length ?? 0) === 0,
  });
}

/** Returns a map type. Keys of go-spew are sorted by value, those of JSON as text. */
export function goMap<K extends string | number, V>(
  name: string,
  key: GoType<K>,
  value: GoType<V>,
): GoType<ReadonlyMap<K, V> | undefined> {
  const dumpEntry = ([k, v]: readonly [K, V]): string => `${key.dump(k)}:${value.dump(v)}`;
  const isNumeric = typeof key.zero === 'number';
  return goType<ReadonlyMap<K, V> | undefined>(name, {
    dump: (map) =>
      map === undefined
        ? NIL
        : `map[${[...map]
            .toSorted(([a], [b]) => compare(a, b))
            .map(dumpEntry)
            .join(' ')}]`,
    toJson: (map) =>
      map === undefined
        ? 'null'
        : goJsonMap(
            [...map].map(([k, v]) => [String(k), v] as const),
            value.toJson,
          ),
    fromJson: (json, before, place) => {
      if (json === null) return undefined;
      if (!isObject(json)) throw mismatch(json, name, place);
      const entries = Object.entries(json).map(([k, v]): [K, V] => [
        key.fromJson(isNumeric ? Number(k) : k, key.zero, place),
        value.fromJson(v, value.zero, place),
      ]);
      return new Map([...(before ?? []), ...entries]);
    },
    zero: undefined,
    isEmpty: (map) => (map?.size ?? 0) === 0,
  });
}

/** Returns a map in JSON as Go writes it: sorted by key, even if keys are numbers. */
export function goJsonMap<T>(entries: Iterable<readonly [string, T]>, textOf: (value: T) => string): string {
  return `{${[...entries]
    .toSorted(byKey)
    .map(([key, value]) => `${goJson(key)}:${textOf(value)}`)
    .join(',')}}`;
}

/** Returns a pointer type; addresses are not printed. */
export function goPointer<T>(target: GoType<T>): GoType<T | undefined> {
  const name = `*${target.name}`;
  return {
    name,
    dump: (value) => (value === undefined ? `<*>${NIL}` : `<*>${target.dump(value)}`),
    dumpTyped: (value) => `(${name})${value === undefined ? NIL : target.dump(value)}`,
    toJson: (value) => (value === undefined ? 'null' : target.toJson(value)),
    fromJson: (json, before, place) =>
      json === null ? undefined : target.fromJson(json, before ?? target.zero, place),
    zero: undefined,
    isEmpty: (value) => value === undefined,
  };
}

/** A field of a struct. */
export interface GoField<T> {
  /** Name in Go. */
  readonly name: string;
  readonly type: GoType<T>;
  /** Name in JSON; by default that of the property. */
  readonly json?: string;
  readonly omitEmpty?: boolean;
}

type Fields<T> = {readonly [K in keyof T]-?: GoField<T[K]>};

/** Returns a struct type; fields are in the order of Go. Errors of reading JSON have another name if one is given. */
export function goStruct<T extends object>(name: string, fields: Fields<T>, nameInErrors = name): GoType<T> {
  const all = (Object.entries(fields) as [keyof T & string, GoField<unknown>][]).map(([key, field]) => ({
    ...field,
    key,
    json: field.json ?? key,
  }));
  return goType<T>(name, {
    dump: (value) =>
      `{${all.map(({name: field, key, type}) => `${field}:${type.dumpTyped(value[key])}`).join(' ')}}`,
    toJson: (value) =>
      `{${all
        .filter(({key, type, omitEmpty}) => omitEmpty !== true || !type.isEmpty(value[key]))
        .map(({key, json, type}) => `${goJson(json)}:${type.toJson(value[key])}`)
        .join(',')}}`,
    fromJson: (json, before, {path}) => {
      if (json === null) return before;
      if (!isObject(json)) throw mismatch(json, nameInErrors, {path});
      const value = {...before} as Record<string, unknown>;
      for (const [key, item] of Object.entries(json)) {
        const field = fieldOf(all, key);
        if (field === undefined) continue;
        const place = {
          struct: nameInErrors.slice(nameInErrors.indexOf('.') + 1),
          path: [...path, field.json],
        };
        value[field.key] = field.type.fromJson(item, value[field.key], place);
      }
      return value as T;
    },
    zero: Object.fromEntries(all.map(({key, type}) => [key, type.zero])) as T,
    isEmpty: () => false,
  });
}

/** Finds the field of a key, whatever its case if none has exactly this name. */
function fieldOf<T extends {readonly json: string}>(fields: readonly T[], key: string): T | undefined {
  return (
    fields.find(({json}) => json === key) ?? fields.find(({json}) => json.toLowerCase() === key.toLowerCase())
  );
}

function mismatch(json: unknown, type: string, {struct, path}: Place, shown = ''): SystemError {
  const into = struct === undefined ? 'value' : `struct field ${struct}.${path.join('.')}`;
  return new SystemError(`json: cannot unmarshal ${kindOf(json)}${shown} into Go ${into} of type ${type}`);
}

function kindOf(json: unknown): string {
  if (Array.isArray(json)) return 'array';
  return typeof json === 'boolean' ? 'bool' : typeof json;
}
