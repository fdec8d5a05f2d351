import {hasErrno} from '../../../base/errors.js';
import {isObject} from '../../../base/is-object.js';
import {systemErrorMessage} from '../../../base/system-error-message.js';
import {goQuote} from '../../../format/go-quote.js';
import type {ConfigMessages} from '../../../operations/container-configs/parse-config-file.js';

/** Error messages of crictl about the config files of `run` and similar commands. */
export const CRICTL_CONFIG_MESSAGES: ConfigMessages = {
  invalid: (_file, what) => what,
  unreadable: (file, error) => `${hasErrno(error, 'EISDIR') ? 'read' : 'open'} ${file}: ${goReason(error)}`,
  noCgroupParent: () => 'cgroup_parent is not set. Use `runtime-config` to get the runtime cgroup driver',
  metadata: (metadata) => ` ${goQuote(protoText(metadata))}`,
  decode: async (name, text) => {
    const {decodeCrictlConfig} = await import('./decode-crictl-config.js');
    return decodeCrictlConfig(name, text);
  },
};

/** Formats a message as Go's protobuf library does: set fields only, in the order in which they are given. */
function protoText(message: Readonly<Record<string, unknown>>): string {
  return Object.entries(message)
    .filter(([, value]) => value !== undefined && value !== '' && value !== 0)
    .map(([name, value]) => {
      const field = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
      return isObject(value) ? mapText(field, value) : `${field}:${scalarText(value)}`;
    })
    .join(' ');
}

function mapText(field: string, map: Readonly<Record<string, unknown>>): string {
  return Object.entries(map)
    .map(([key, value]) => `${field}:{key:${goQuote(key)} value:${scalarText(value)}}`)
    .join(' ');
}

function scalarText(value: unknown): string {
  return typeof value === 'string' ? goQuote(value) : String(value);
}

/** Returns the system's error message as in Go, which differs from Node.js for this error. */
function goReason(error: unknown): string {
  return hasErrno(error, 'EISDIR') ? 'is a directory' : systemErrorMessage(error);
}
