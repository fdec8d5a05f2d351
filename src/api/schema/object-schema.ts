/** Notations of a value in a manifest. */
export type FieldType =
  | ScalarType
  | EnumerationType
  | {readonly kind: 'anything'}
  | {readonly kind: 'list'; readonly item: FieldType}
  | {readonly kind: 'map'; readonly value: FieldType}
  | {readonly kind: 'object'; readonly schema: AnySchema};

/** A single value. */
export interface ScalarType {
  readonly kind:
    | 'text'
    | 'secretText'
    | 'bytes'
    | 'bool'
    | 'int32'
    | 'int64'
    | 'quantity'
    | 'time'
    | 'intOrString';
}

/** An enumeration. */
export interface EnumerationType extends EnumerationMessages {
  readonly kind: 'enumeration';
  /** Values in the order in which the API server lists them. */
  readonly values: readonly string[];
}

/** The API server's messages where they differ from the usual ones. */
export interface EnumerationMessages {
  /** Message for another value, instead of the list of supported values. */
  readonly invalid?: string;
  /** Message for a missing value. */
  readonly required?: string;
}

/** A field of an object: its type, and whether it is required (zero value if the manifest omits it). */
export interface AnyField {
  readonly type: FieldType;
  readonly required: boolean;
}

/** Schema of an API object, for everything that walks objects: decoding, name checks, documentation. */
export interface AnySchema {
  /** Upstream name of the type, such as `PodSpec`. */
  readonly name: string;
  readonly fields: Readonly<Record<string, AnyField>>;
}

declare const described: unique symbol;

/** A field whose TypeScript type is exactly `T`; the symbol exists for the compiler only. */
export interface Field<T> extends AnyField {
  readonly [described]?: (value: T) => T;
}

export interface OptionalField<T> extends Field<T> {
  readonly required: false;
}

export interface RequiredField<T> extends Field<T> {
  readonly required: true;
}

/** Table of the fields of the interface `T`: all of them, no others, each with the right type. */
export type Fields<T> = {
  readonly [Name in keyof T]-?: object extends Pick<T, Name>
    ? OptionalField<Exclude<T[Name], undefined>>
    : RequiredField<T[Name]>;
};

/** The schema of the interface `T`. */
export interface ObjectSchema<T> extends AnySchema {
  readonly fields: Fields<T> & AnySchema['fields'];
  readonly [described]?: (value: T) => T;
}

/** A schema from which the interface `T` is derived. It is an `ObjectSchema<T>` if it names its own interface. */
export interface SourceSchema<T, Table extends AnySchema['fields']> extends AnySchema {
  readonly fields: Table;
  readonly [described]?: (value: T) => T;
}

type ValueOf<F> = F extends Field<infer T> ? T : never;
type IsRequired<F> = F extends {readonly required: true} ? true : false;

/** The object that a schema describes. Fields keep their doc comments. */
export type Described<Schema extends AnySchema> = {
  readonly [
    Name in keyof Schema['fields'] as IsRequired<Schema['fields'][Name]> extends true ? Name : never
  ]: ValueOf<Schema['fields'][Name]>;
} & {
  readonly [
    Name in keyof Schema['fields'] as IsRequired<Schema['fields'][Name]> extends true ? never : Name
  ]?: ValueOf<Schema['fields'][Name]>;
};

/**
 * Returns a function that makes the schema from which an interface is derived, so that fields are written once and the
 * type has a name:
 *
 *     interface HostAlias extends Described<typeof hostAlias> {}
 *     const hostAlias = schemaOf<HostAlias>('HostAlias')({ip: required(text), hostnames: list(text)});
 */
export function schemaOf<T>(
  name: string,
): <const Table extends AnySchema['fields']>(fields: Table) => SourceSchema<T, Table> {
  return (fields) => ({name, fields});
}

/** Ties a table of fields to the interface that it describes, which is written by hand. */
export function objectSchema<T>(name: string, fields: Fields<T>): ObjectSchema<T> {
  return {name, fields};
}

function field<T>(type: FieldType): OptionalField<T> {
  return {type, required: false};
}

/** Any string. */
export const text = field<string>({kind: 'text'});
/** Any string; its value is never shown. */
export const secretText = field<string>({kind: 'secretText'});
/** Bytes in base64; their value is never shown. */
export const bytes = field<Uint8Array>({kind: 'bytes'});
/** A boolean. */
export const bool = field<boolean>({kind: 'bool'});
/** A 32-bit integer. */
export const int32 = field<number>({kind: 'int32'});
/** An integer within JavaScript's exact range (64 bits in Go). */
export const int64 = field<number>({kind: 'int64'});
/** A quantity, decoded into its canonical form. */
export const quantity = field<string>({kind: 'quantity'});
/** An RFC 3339 timestamp. */
export const time = field<string>({kind: 'time'});
/** A number or a string, such as a port. */
export const intOrString = field<number | string>({kind: 'intOrString'});
/** Any value, carried unchanged. */
export const anything = field<unknown>({kind: 'anything'});

/** Returns the type of an enumeration; an empty string is absent unless it is a member. */
export function enumeration<const T extends string>(
  values: readonly T[],
  texts: EnumerationMessages = {},
): OptionalField<T> {
  return field<T>({kind: 'enumeration', values, ...texts});
}

/** An ordered list of values. */
export function list<T>(item: Field<T>): OptionalField<readonly T[]> {
  return field<readonly T[]>({kind: 'list', item: item.type});
}

/** Returns the type of a map. */
export function map<T>(value: Field<T>): OptionalField<Readonly<Record<string, T>>> {
  return field<Readonly<Record<string, T>>>({kind: 'map', value: value.type});
}

/** Returns the type of an object. */
export function object<T>(schema: ObjectSchema<T>): OptionalField<T> {
  return field<T>({kind: 'object', schema});
}

/** Returns the field as a required one. */
export function required<T>({type}: Field<T>): RequiredField<T> {
  return {type, required: true};
}
