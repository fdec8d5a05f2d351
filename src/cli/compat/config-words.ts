import {hasErrno} from '../../base/errors.js';
import {systemReason} from '../../base/system-reason.js';
import {goQuote} from '../../format/go-quote.js';
import type {ConfigWords} from '../../operations/config-files.js';

/** How crictl tells what is wrong with the files that `run` and its like take. */
export const CRICTL_CONFIG_WORDS: ConfigWords = {
  wrong: (_file, what) => what,
  unreadable: (file, error) => `${hasErrno(error, 'EISDIR') ? 'read' : 'open'} ${file}: ${goReason(error)}`,
  unknownField: () => undefined,
  lost: () => undefined,
  noCgroupParent: () => 'cgroup_parent is not set. Use `runtime-config` to get the runtime cgroup driver',
  metadata: (metadata) => ` ${goQuote(protoText(metadata))}`,
};

/** A flat message as Go's protobuf library prints it: what is set, in the order of its fields. */
function protoText(message: Readonly<Record<string, unknown>>): string {
  return Object.entries(message)
    .filter(([, value]) => value !== undefined && value !== '' && value !== 0)
    .map(([name, value]) => `${name}:${typeof value === 'string' ? goQuote(value) : String(value)}`)
    .join(' ');
}

/** What the system said as Go has it: Node.js has other words for this one. */
function goReason(error: unknown): string {
  return hasErrno(error, 'EISDIR') ? 'is a directory' : systemReason(error);
}
