import type {FieldPath} from './field-path.js';

/** A field that breaks a rule, in the API server's words (apimachinery's field.Error). */
export interface FieldError {
  readonly path: FieldPath;
  /** Without the path, such as `Required value` or `Invalid value: "a b": must not contain spaces`. */
  readonly message: string;
}

/** What a validator finds, in the order in which it looks. */
export type FieldErrors = Generator<FieldError, void, undefined>;

/** A field error as one line: `spec.containers[0].image: Required value`. */
export function describeFieldError({path, message}: FieldError): string {
  return path.steps.length === 0 ? message : `${path.toString()}: ${message}`;
}

function join(kind: string, detail: string): string {
  return detail === '' ? kind : `${kind}: ${detail}`;
}

/** A value that must be there isn't. */
export function requiredValue(path: FieldPath, detail = ''): FieldError {
  return {path, message: join('Required value', detail)};
}

/** A value that isn't allowed, and why. */
export function invalidValue(path: FieldPath, value: unknown, detail: string): FieldError {
  return {path, message: join(`Invalid value: ${JSON.stringify(value)}`, detail)};
}

/** A value that is none of the known ones. */
export function unsupportedValue(path: FieldPath, value: unknown, supported: readonly string[]): FieldError {
  const names = supported.map((name) => JSON.stringify(name)).join(', ');
  return {path, message: join(`Unsupported value: ${JSON.stringify(value)}`, `supported values: ${names}`)};
}

/** A value that another entry of the list has already. */
export function duplicateValue(path: FieldPath, value: unknown): FieldError {
  return {path, message: `Duplicate value: ${JSON.stringify(value)}`};
}

/** A reference to something that the object doesn't have. */
export function notFound(path: FieldPath, value: unknown, detail = ''): FieldError {
  return {path, message: join(`Not found: ${JSON.stringify(value)}`, detail)};
}

/** A field that may not be set here. */
export function forbidden(path: FieldPath, detail: string): FieldError {
  return {path, message: join('Forbidden', detail)};
}

/** A text or list that is too long. */
export function tooLong(path: FieldPath, bytes: number): FieldError {
  return {path, message: `Too long: may not be more than ${bytes} bytes`};
}
