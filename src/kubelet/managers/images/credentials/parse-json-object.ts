import {ConfigError} from '../../../../base/errors.js';
import {isObject} from '../../../../base/is-object.js';

/** JSON object whose members are not validated yet. */
export type JsonFields = Readonly<Record<string, unknown>>;

/** Parses JSON. Throws ConfigError with `problem` only, because the engine's message may quote a password. */
export function parseSecretJson(text: string, problem: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ConfigError(problem);
  }
}

/** Returns the value if it is an object. Throws ConfigError with `problem` otherwise. */
export function requireObject(value: unknown, problem: string): JsonFields {
  if (isObject(value)) return value;
  throw new ConfigError(problem);
}
