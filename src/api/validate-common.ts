import type {FieldErrors} from './field-error.js';
import {duplicateValue, invalidValue, requiredValue} from './field-error.js';
import type {FieldPath} from './field-path.js';
import {rangeProblem} from './names.js';

/** Applies a validator to every item of a list that may be absent. */
export function* each<T>(
  items: readonly T[] | undefined,
  path: FieldPath,
  validate: (item: T, path: FieldPath) => FieldErrors,
): FieldErrors {
  for (const [index, item] of (items ?? []).entries()) yield* validate(item, path.index(index));
}

/** Applies a validator to a part that may be absent. */
export function* whenSet<T>(
  part: T | undefined,
  path: FieldPath,
  validate: (part: T, path: FieldPath) => FieldErrors,
): FieldErrors {
  if (part !== undefined) yield* validate(part, path);
}

/** Every text that another item had before is a duplicate; empty ones are somebody else's error. */
export function* validateUnique(
  values: readonly (readonly [value: string, path: FieldPath])[],
  seen = new Set<string>(),
): FieldErrors {
  for (const [value, path] of values) {
    if (value !== '' && seen.has(value)) yield duplicateValue(path, value);
    seen.add(value);
  }
}

/** A text that must not be empty. */
export function* requireText(value: string | undefined, path: FieldPath, detail?: string): FieldErrors {
  if (value === undefined || value === '') yield requiredValue(path, detail);
}

/** A number of at least zero (ValidateNonnegativeField). */
export function* validateNonNegative(value: number | undefined, path: FieldPath): FieldErrors {
  if (value !== undefined && value < 0) yield invalidValue(path, value, 'must be greater than or equal to 0');
}

/** A number of at least one (ValidatePositiveField). */
export function* validatePositive(value: number, path: FieldPath): FieldErrors {
  if (value <= 0) yield invalidValue(path, value, 'must be greater than zero');
}

/** A number between two others, both allowed. */
export function* validateRange(
  value: number | undefined,
  path: FieldPath,
  least: number,
  most: number,
): FieldErrors {
  if (value !== undefined && (value < least || value > most)) {
    yield invalidValue(path, value, rangeProblem(least, most));
  }
}

/** The user and group ids that Kubernetes takes. */
export function* validateId(id: number | undefined, path: FieldPath): FieldErrors {
  yield* validateRange(id, path, 0, 2 ** 31 - 1);
}

/** A path without `..` (validatePathNoBacksteps). */
export function* validateNoBacksteps(value: string, path: FieldPath): FieldErrors {
  if (value.split('/').includes('..')) yield invalidValue(path, value, "must not contain '..'");
}

/** A relative path that stays below where it begins (validateLocalDescendingPath). */
export function* validateDescendingPath(value: string, path: FieldPath): FieldErrors {
  if (value.startsWith('/')) yield invalidValue(path, value, 'must be a relative path');
  yield* validateNoBacksteps(value, path);
}

/** A file inside a volume; names that begin with `..` belong to the kubelet (ValidateLocalNonReservedPath). */
export function* validateFilePath(value: string, path: FieldPath): FieldErrors {
  yield* validateDescendingPath(value, path);
  if (value.startsWith('..') && !value.startsWith('../')) {
    yield invalidValue(path, value, "must not start with '..'");
  }
}

/** A file's permission bits. */
export function* validateFileMode(mode: number | undefined, path: FieldPath): FieldErrors {
  if (mode !== undefined && (mode < 0 || mode > 0o777)) {
    yield invalidValue(path, mode, 'must be a number between 0 and 0777 (octal), both inclusive');
  }
}
