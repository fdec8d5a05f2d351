import {isObject} from './is-object.js';

/** Returns the object that the text is in JSON; an empty object if it is anything else. */
export function parseJsonObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
