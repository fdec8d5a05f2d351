/** How one value is written in a manifest. */
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
    'text' | 'secretText' | 'bytes' | 'bool' | 'int32' | 'int64' | 'quantity' | 'time' | 'intOrString';
}

/** One of a few words. */
export interface EnumerationType extends EnumerationTexts {
  readonly kind: 'enumeration';
  /** In the order in which the API server lists them. */
  readonly values: readonly string[];
}

/** The API server's words where they differ from the usual ones. */
export interface EnumerationTexts {
  /** Why another value is invalid, instead of the list of supported ones. */
  readonly invalid?: string;
  /** Why the value is required. */
  readonly required?: string;
}

/** A field of an object: its type, and whether it is always there (as its zero value when the manifest is silent). */
export interface AnyField {
  readonly type: FieldType;
  readonly required: boolean;
}

/** An object of the API as its fields, for everything that walks objects: decoding, checks of names, documentation. */
export interface AnySchema {
  /** The type's name upstream, such as `PodSpec`. */
  readonly name: string;
  readonly fields: Readonly<Record<string, AnyField>>;
}

declare const described: unique symbol;

/** A field whose TypeScript type is `T`, neither narrower nor wider; the symbol exists for the compiler only. */
export interface Field<T> extends AnyField {
  readonly [described]?: (value: T) => T;
}

interface OptionalField<T> extends Field<T> {
  readonly required: false;
}

interface RequiredField<T> extends Field<T> {
  readonly required: true;
}

/** The table that exactly fits the interface `T`: no field missing, none too many, each of the right type. */
export type Fields<T> = {
  readonly [Name in keyof T]-?: object extends Pick<T, Name>
    ? OptionalField<Exclude<T[Name], undefined>>
    : RequiredField<T[Name]>;
};

/** The schema of the interface `T`. */
export interface ObjectSchema<T> extends AnySchema {
  readonly fields: Fields<T> & Readonly<Record<string, AnyField>>;
}

/** Ties a table of fields to the interface that it describes. */
export function objectSchema<T>(name: string, fields: Fields<T>): ObjectSchema<T> {
  return {name, fields};
}

function field<T>(type: FieldType): OptionalField<T> {
  return {type, required: false};
}

/** Any text. */
export const text = field<string>({kind: 'text'});
/** Any text, which no message may show. */
export const secretText = field<string>({kind: 'secretText'});
/** Written in base64; no message shows them. */
export const bytes = field<Uint8Array>({kind: 'bytes'});
/** True or false. */
export const bool = field<boolean>({kind: 'bool'});
/** A whole number of 32 bits. */
export const int32 = field<number>({kind: 'int32'});
/** A whole number, as far as JavaScript's are exact (Go's go up to 64 bits). */
export const int64 = field<number>({kind: 'int64'});
/** Read into its canonical form. */
export const quantity = field<string>({kind: 'quantity'});
/** RFC 3339. */
export const time = field<string>({kind: 'time'});
/** A number or a text, such as a port. */
export const intOrString = field<number | string>({kind: 'intOrString'});
/** Carried as it is. */
export const anything = field<unknown>({kind: 'anything'});

/** One of `values`; the empty text counts as absent unless it is one of them. */
export function enumeration<const T extends string>(
  values: readonly T[],
  texts: EnumerationTexts = {},
): OptionalField<T> {
  return field<T>({kind: 'enumeration', values, ...texts});
}

/** Several values in order. */
export function list<T>(item: Field<T>): OptionalField<readonly T[]> {
  return field<readonly T[]>({kind: 'list', item: item.type});
}

/** Values by freely chosen keys. */
export function map<T>(value: Field<T>): OptionalField<Readonly<Record<string, T>>> {
  return field<Readonly<Record<string, T>>>({kind: 'map', value: value.type});
}

/** An object of its own. */
export function object<T>(schema: ObjectSchema<T>): OptionalField<T> {
  return field<T>({kind: 'object', schema});
}

/** The same field, always there. */
export function required<T>({type}: Field<T>): RequiredField<T> {
  return {type, required: true};
}
