import {findClosestMatch} from '../../base/closest-match.js';
import {UsageError} from '../../base/errors.js';

/** Capabilities of the kernel (capabilities(7)), without `CAP_`. */
const CAPABILITIES: readonly string[] = (
  'AUDIT_CONTROL AUDIT_READ AUDIT_WRITE BLOCK_SUSPEND BPF CHECKPOINT_RESTORE CHOWN DAC_OVERRIDE DAC_READ_SEARCH ' +
  'FOWNER FSETID IPC_LOCK IPC_OWNER KILL LEASE LINUX_IMMUTABLE MAC_ADMIN MAC_OVERRIDE MKNOD NET_ADMIN ' +
  'NET_BIND_SERVICE NET_BROADCAST NET_RAW PERFMON SETFCAP SETGID SETPCAP SETUID SYSLOG SYS_ADMIN SYS_BOOT ' +
  'SYS_CHROOT SYS_MODULE SYS_NICE SYS_PACCT SYS_PTRACE SYS_RAWIO SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG WAKE_ALARM'
).split(' ');

/**
 * Parses a capability as the CRI has it, such as `NET_ADMIN` for `cap_net_admin`, or ALL. Runtimes ignore unknown names.
 * Throws UsageError, with `flag` in its text.
 */
export function parseCapability(text: string, flag: string): string {
  const name = text.toUpperCase().replace(/^CAP_/, '');
  if (name === 'ALL' || CAPABILITIES.includes(name)) return name;
  const closest = findClosestMatch(name, CAPABILITIES);
  throw new UsageError(`invalid --${flag} "${text}": unknown capability`, {
    hint: closest === undefined ? 'capabilities(7) lists them' : `did you mean "${closest}"?`,
  });
}
