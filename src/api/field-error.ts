import type {FieldPath} from './field-path.js';

/** A field that violates a rule, with the API server's message (apimachinery field.Error). */
export interface FieldError {
  readonly path: FieldPath;
  /** Message without the path, such as `Required value` or `Invalid value: "a b": must not contain spaces`. */
  readonly message: string;
}

/** Errors found by a validator, in the order of its checks. */
export type FieldErrors = Generator<FieldError, void, undefined>;

/** Formats a field error as one line: `spec.containers[0].image: Required value`. */
export function describeFieldError({path, message}: FieldError): string {
  return path.steps.length === 0 ? message : `${path.toString()}: ${message}`;
}

function join(kind: string, detail: string): string {
  return detail === '' ? kind : `${kind}: ${detail}`;
}

/** Returns the error for a missing value. */
export function requiredValue(path: FieldPath, detail = ''): FieldError {
  return {path, message: join('Required value', detail)};
}

/** Returns the error for a value that is not allowed, with the reason. */
export function invalidValue(path: FieldPath, value: unknown, detail: string): FieldError {
  return {path, message: join(`Invalid value: ${JSON.stringify(value)}`, detail)};
}

/** Returns the error for a value that is not one of the supported values. */
export function unsupportedValue(path: FieldPath, value: unknown, supported: readonly string[]): FieldError {
  const names = supported.map((name) => JSON.stringify(name)).join(', ');
  return {path, message: join(`Unsupported value: ${JSON.stringify(value)}`, `supported values: ${names}`)};
}

/** Returns the error for a value that another entry of the list already has. */
export function duplicateValue(path: FieldPath, value: unknown): FieldError {
  return {path, message: `Duplicate value: ${JSON.stringify(value)}`};
}

/** Returns the error for a reference to something that does not exist in the object. */
export function notFound(path: FieldPath, value: unknown, detail = ''): FieldError {
  return {path, message: join(`Not found: ${JSON.stringify(value)}`, detail)};
}

/** Returns the error for a field that must not be set. */
export function forbidden(path: FieldPath, detail: string): FieldError {
  return {path, message: join('Forbidden', detail)};
}

/** Returns the error for a text or list that is too long. */
export function tooLong(path: FieldPath, bytes: number): FieldError {
  return {path, message: `Too long: may not be more than ${bytes} bytes`};
}

/** Returns the error for a list with too many items. */
export function tooMany(path: FieldPath, found: number, most: number): FieldError {
  return {path, message: `Too many: ${found}: must have at most ${most} items`};
}
