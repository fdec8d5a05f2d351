import {HELP} from './recordings.js';

/** Replaces crictl's help with a placeholder. */
export function withoutCrictlHelp(stdout: string): string {
  return stdout.replace(/(^|\n)NAME:\n {3}crictl[^]*$/, `$1${HELP}`);
}

/** Replaces kcri's help, which differs from crictl's: only its presence is compared. */
export function withoutKcriHelp(stdout: string, recorded: string): string {
  if (!recorded.endsWith(HELP)) return stdout;
  const before = recorded.slice(0, -HELP.length);
  const isHelp = stdout.startsWith(before) && /^USAGE\n/m.test(stdout.slice(before.length));
  return isHelp ? recorded : stdout;
}
