import type {FieldErrors} from '../field-error.js';
import {duplicateValue, invalidValue, requiredValue} from '../field-error.js';
import type {FieldPath} from '../field-path.js';
import {inclusiveRangeError} from './validate-names.js';

/** Applies a validator to each item of an optional list. */
export function* validateEach<T>(
  items: readonly T[] | undefined,
  path: FieldPath,
  validate: (item: T, path: FieldPath) => FieldErrors,
): FieldErrors {
  for (const [index, item] of (items ?? []).entries()) yield* validate(item, path.index(index));
}

/** Applies a validator to an optional part. */
export function* validateIfSet<T>(
  part: T | undefined,
  path: FieldPath,
  validate: (part: T, path: FieldPath) => FieldErrors,
): FieldErrors {
  if (part !== undefined) yield* validate(part, path);
}

/** Reports duplicate strings; empty ones are reported elsewhere. */
export function* validateUnique(
  values: readonly (readonly [value: string, path: FieldPath])[],
  seen = new Set<string>(),
): FieldErrors {
  for (const [value, path] of values) {
    if (value !== '' && seen.has(value)) yield duplicateValue(path, value);
    seen.add(value);
  }
}

/** Requires a non-empty string. */
export function* validateRequired(value: string | undefined, path: FieldPath, detail?: string): FieldErrors {
  if (value === undefined || value === '') yield requiredValue(path, detail);
}

/** Requires a number of at least zero (ValidateNonnegativeField). */
export function* validateNonNegative(value: number | undefined, path: FieldPath): FieldErrors {
  if (value !== undefined && value < 0) yield invalidValue(path, value, 'must be greater than or equal to 0');
}

/** Requires a number of at least one (ValidatePositiveField). */
export function* validatePositive(value: number, path: FieldPath): FieldErrors {
  if (value <= 0) yield invalidValue(path, value, 'must be greater than zero');
}

/** Requires a number in an inclusive range. */
export function* validateRange(
  value: number | undefined,
  path: FieldPath,
  least: number,
  most: number,
): FieldErrors {
  if (value !== undefined && (value < least || value > most)) {
    yield invalidValue(path, value, inclusiveRangeError(least, most));
  }
}

/** Requires a valid user or group ID. */
export function* validateId(id: number | undefined, path: FieldPath): FieldErrors {
  yield* validateRange(id, path, 0, 2 ** 31 - 1);
}

/** Requires a path without `..` (validatePathNoBacksteps). */
export function* validateNoBacksteps(value: string, path: FieldPath): FieldErrors {
  if (value.split('/').includes('..')) yield invalidValue(path, value, "must not contain '..'");
}

/** Requires a relative path that does not leave its base (validateLocalDescendingPath). */
export function* validateDescendingPath(value: string, path: FieldPath): FieldErrors {
  if (value.startsWith('/')) yield invalidValue(path, value, 'must be a relative path');
  yield* validateNoBacksteps(value, path);
}

/** Requires a file name inside a volume; names that start with `..` are reserved (ValidateLocalNonReservedPath). */
export function* validateFilePath(value: string, path: FieldPath): FieldErrors {
  yield* validateDescendingPath(value, path);
  if (value.startsWith('..') && !value.startsWith('../')) {
    yield invalidValue(path, value, "must not start with '..'");
  }
}

/** Requires file permission bits. */
export function* validateFileMode(mode: number | undefined, path: FieldPath): FieldErrors {
  if (mode !== undefined && (mode < 0 || mode > 0o777)) {
    yield invalidValue(path, mode, 'must be a number between 0 and 0777 (octal), both inclusive');
  }
}
