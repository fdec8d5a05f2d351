import type {KeyToPath} from '../../../../api/types/v1-volumes.js';
import {SystemError} from '../../../../base/errors.js';
import type {Payload} from '../atomic-writer.js';

/** Default mode of files in a volume. */
export const DEFAULT_MODE = 0o644;

/** Mapping of an object's keys to files. */
export interface KeySelection {
  /** Keys and their paths; all keys by name if empty. */
  readonly items?: readonly KeyToPath[] | undefined;
  readonly defaultMode?: number | undefined;
  /** True if missing keys are ignored. */
  readonly optional?: boolean | undefined;
}

/** Description of the object for error messages. */
export interface KeyedObject {
  /** Kind and name, such as `ConfigMap "default/settings"`. */
  readonly title: string;
  /** The kubelet's message before a missing key. */
  readonly missing: string;
}

/**
 * Returns the files for the keys of a ConfigMap or Secret (MakePayload).
 *
 * @throws SystemError for a missing key.
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
      hint: `add the key to the ${title}, use an existing key, or set optional: true`,
    });
  });
  return new Map(
    present.map(({key, path, mode = defaultMode}) => [
      path,
      {data: Buffer.from(values[key] ?? new Uint8Array()), mode},
    ]),
  );
}
