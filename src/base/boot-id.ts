import {readFileSync} from 'node:fs';

let known: string | undefined;

/** Returns the kernel's ID of this boot. Throws the system error if /proc is not mounted. */
export function bootId(): string {
  known ??= readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  return known;
}
