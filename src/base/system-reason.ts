import {messageOf} from './errors.js';

/** What the system said, without Node.js' code, call and path: `no space left on device`. */
export function systemReason(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  // Loaded here: most commands have no such error to tell.
  const {getSystemErrorMap} = process.getBuiltinModule('node:util');
  // By its code: Bun's errors have numbers of either sign.
  return new Map(getSystemErrorMap().values()).get(code) ?? messageOf(error);
}
