import type {KeyToPath} from '../../api/v1-volumes.js';
import {SystemError} from '../../base/errors.js';
import type {Payload} from './atomic-writer.js';

/** The API's default for files of a volume. */
export const DEFAULT_MODE = 0o644;

/** Which keys of an object become which files. */
export interface KeySelection {
  /** All keys, by their own names, when there are none. */
  readonly items?: readonly KeyToPath[] | undefined;
  readonly defaultMode?: number | undefined;
  /** A key that isn't there is left out. */
  readonly optional?: boolean | undefined;
}

/** The object that keys are of, as errors speak of it. */
export interface KeyedObject {
  /** `ConfigMap "default/settings"`. */
  readonly title: string;
  /** What the kubelet says before a key that isn't there. */
  readonly missing: string;
}

/**
 * The files for the keys of a ConfigMap or Secret (MakePayload of both).
 *
 * @throws SystemError for a key that isn't there.
 */
export function keyPayload(
  values: Readonly<Record<string, Uint8Array>>,
  {items = [], defaultMode = DEFAULT_MODE, optional = false}: KeySelection,
  {title, missing}: KeyedObject,
): Payload {
  if (items.length === 0)
    return new Map(
      Object.entries(values).map(([key, value]) => [key, {data: Buffer.from(value), mode: defaultMode}]),
    );
  const present = items.filter(({key}) => {
    if (Object.hasOwn(values, key)) return true;
    if (optional) return false;
    throw new SystemError(`${missing}: ${key}`, {
      hint: `the ${title} has no such key: add it, name another one, or set optional: true to go without`,
    });
  });
  return new Map(
    present.map(({key, path, mode = defaultMode}) => [
      path,
      {data: Buffer.from(values[key] ?? new Uint8Array()), mode},
    ]),
  );
}
