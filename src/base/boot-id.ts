import {readFileSync} from 'node:fs';

let known: string | undefined;

/** The kernel's name for this boot, which no process outlives. Throws the system's error when /proc isn't mounted. */
export function bootId(): string {
  known ??= readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  return known;
}
