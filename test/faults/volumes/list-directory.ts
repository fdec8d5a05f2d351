import {existsSync, readdirSync} from 'node:fs';

/** Returns the paths below a directory; an unknown one while they change. */
export function listBelow(directory: string): readonly string[] {
  try {
    return existsSync(directory) ? readdirSync(directory, {recursive: true, encoding: 'utf8'}) : [];
  } catch {
    return ['?'];
  }
}

/** Returns the names in a directory; none if it does not exist. */
export function listNames(directory: string): readonly string[] {
  return existsSync(directory) ? readdirSync(directory) : [];
}
