import {hasErrno} from '../../base/errors.js';
import {systemErrorMessage} from '../../base/system-error-message.js';
import {goQuote} from '../../format/go-quote.js';
import type {ConfigMessages} from '../../operations/container-configs/parse-config-file.js';

/** Error messages of crictl about the config files of `run` and similar commands. */
export const CRICTL_CONFIG_MESSAGES: ConfigMessages = {
  invalid: (_file, what) => what,
  unreadable: (file, error) => `${hasErrno(error, 'EISDIR') ? 'read' : 'open'} ${file}: ${goReason(error)}`,
  unknownField: () => undefined,
  moreUnknownFields: () => undefined,
  moreDocuments: () => undefined,
  // A list with one object is the output of kcri's own inspect.
  wrongDocument: (kind, document) => {
    const type = jsonTypeOf(document);
    return type === undefined
      ? undefined
      : `error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${type} into Go value of type v1.${kind}`;
  },
  incomplete: () => undefined,
  noCgroupParent: () => 'cgroup_parent is not set. Use `runtime-config` to get the runtime cgroup driver',
  metadata: (metadata) => ` ${goQuote(protoText(metadata))}`,
};

/**
 * Returns Go's name for the JSON type of a document that is not an object; undefined for an object, or for a list of a
 * single object.
 */
function jsonTypeOf(document: unknown): string | undefined {
  if (Array.isArray(document)) return document.length === 1 ? undefined : 'array';
  if (typeof document === 'object') return undefined;
  return {string: 'string', boolean: 'bool'}[typeof document as string] ?? 'number';
}

/** Formats a flat message as Go's protobuf library does: set fields only, in field order. */
function protoText(message: Readonly<Record<string, unknown>>): string {
  return Object.entries(message)
    .filter(([, value]) => value !== undefined && value !== '' && value !== 0)
    .map(([name, value]) => `${name}:${typeof value === 'string' ? goQuote(value) : String(value)}`)
    .join(' ');
}

/** Returns the system's error message as in Go, which differs from Node.js for this error. */
function goReason(error: unknown): string {
  return hasErrno(error, 'EISDIR') ? 'is a directory' : systemErrorMessage(error);
}
