import {readFile} from 'node:fs/promises';
import {ConfigError} from '../../base/errors.js';
import {ifPresent, withFileErrors} from '../../base/fs/files.js';

/** Values that a kubelet expects of kernel settings, by their files below /proc/sys (setupKernelTunables). */
const EXPECTED = {
  'vm/overcommit_memory': 1,
  'vm/panic_on_oom': 0,
  'kernel/panic': 10,
  'kernel/panic_on_oops': 1,
  'kernel/keys/root_maxkeys': 1_000_000,
  'kernel/keys/root_maxbytes': 25_000_000,
} as const;

/**
 * Checks the kernel settings of the node, as protectKernelDefaults demands. Rejects with ConfigError, which lists those that
 * differ, and with SystemError. Settings that the kernel does not have are skipped.
 */
export async function checkKernelSettings(directory = '/proc/sys'): Promise<void> {
  const problems: string[] = [];
  for (const [flag, expected] of Object.entries(EXPECTED)) {
    const path = `${directory}/${flag}`;
    const text = await withFileErrors('reading', path, () => ifPresent(() => readFile(path, 'utf8')));
    if (text !== undefined && Number(text) !== expected)
      problems.push(
        `invalid kernel flag: ${flag}, expected value: ${expected}, actual value: ${Number(text)}`,
      );
  }
  if (problems.length > 0)
    throw new ConfigError(problems.length === 1 ? problems.join('') : `[${problems.join(', ')}]`, {
      hint: 'set them with sysctl, or set protectKernelDefaults to false',
    });
}
