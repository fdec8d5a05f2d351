import {basename} from 'node:path';

/** Command that started this process. */
export const SCRIPT: readonly string[] = process.argv.slice(0, 2);

/** Reports whether this process was called as crictl. */
export function isCalledAsCrictl(program = SCRIPT): boolean {
  return isCompat(process.env, program.at(-1)) || isCompat({}, process.argv0);
}

/** Reports whether kcri runs as crictl: under that program name (a link to it), or with KCRI_COMPAT=crictl. */
export function isCompat(env: Readonly<Record<string, string | undefined>>, program = ''): boolean {
  return env['KCRI_COMPAT'] === 'crictl' || basename(program) === 'crictl';
}
