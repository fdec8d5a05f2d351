import {resolve} from 'node:path';
import {isHttpUrl} from '../../base/is-http-url.js';

/** Returns where a manifest comes from, independently of the working directory: a path, a URL or `-`. */
export function absoluteSource(source: string): string {
  return source === '-' || isHttpUrl(source) ? source : resolve(source);
}
