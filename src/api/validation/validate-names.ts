import {BlockList, isIP, isIPv6} from 'node:net';
import type {FieldErrors} from '../field-error.js';
import {invalidValue} from '../field-error.js';
import type {FieldPath} from '../field-path.js';

/** Returns the API server's messages about an invalid name; none for a valid one (util/validation). */
export type NameCheck = (value: string) => readonly string[];

/** Applies a check to the value of a field. */
export function* validateName(value: string, path: FieldPath, check: NameCheck): FieldErrors {
  for (const problem of check(value)) yield invalidValue(path, value, problem);
}

interface Pattern {
  readonly format: string;
  readonly message: string;
  readonly examples: readonly string[];
}

function matches(value: string, {format}: Pattern): boolean {
  return new RegExp(`^(?:${format})$`).test(value);
}

function describe({format, message, examples}: Pattern): string {
  // Two spaces, as in the API server's message.
  const quoted = examples.map((example) => `'${example}'`).join(',  or ');
  return `${message} (e.g. ${quoted}, regex used for validation is '${format}')`;
}

/** Returns the message `must be between 1 and 65535, inclusive`. */
export function inclusiveRangeError(least: number, most: number): string {
  return `must be between ${least} and ${most}, inclusive`;
}

function lengthProblem(value: string, most: number): readonly string[] {
  return Buffer.byteLength(value) > most ? [`must be no more than ${most} characters`] : [];
}

function patternProblem(value: string, pattern: Pattern): readonly string[] {
  return matches(value, pattern) ? [] : [describe(pattern)];
}

const LABEL_FORMAT = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const DNS_LABEL: Pattern = {
  format: LABEL_FORMAT,
  message:
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
  examples: ['my-name', '123-abc'],
};
const DNS_SUBDOMAIN: Pattern = {
  format: `${LABEL_FORMAT}(\\.${LABEL_FORMAT})*`,
  message:
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
  examples: ['example.com'],
};
const UNDERSCORE_LABEL_FORMAT = '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const UNDERSCORE_SUBDOMAIN: Pattern = {
  format: `${UNDERSCORE_LABEL_FORMAT}(\\.${UNDERSCORE_LABEL_FORMAT})*`,
  message:
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character",
  examples: ['example.com'],
};
const QUALIFIED_FORMAT = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const QUALIFIED_NAME: Pattern = {
  format: QUALIFIED_FORMAT,
  message:
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  examples: ['MyName', 'my.name', '123-abc'],
};
const LABEL_VALUE: Pattern = {
  format: `(${QUALIFIED_FORMAT})?`,
  message:
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  examples: ['MyValue', 'my_value', '12345'],
};
const HTTP_HEADER: Pattern = {
  format: '[-A-Za-z0-9]+',
  message: "a valid HTTP header must consist of alphanumeric characters or '-'",
  examples: ['X-Header-Name'],
};
const CONFIG_KEY: Pattern = {
  format: '[-._a-zA-Z0-9]+',
  message: "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
  examples: ['key.name', 'KEY_NAME', 'key-name'],
};

const LONGEST_LABEL = 63;
const LONGEST_SUBDOMAIN = 253;

/** Checks the name of a container or volume, or a host name (IsDNS1123Label). */
export function checkDnsLabel(value: string): readonly string[] {
  if (matches(value, DNS_LABEL)) return lengthProblem(value, LONGEST_LABEL);
  const problem = matches(value, DNS_SUBDOMAIN) ? 'must not contain dots' : describe(DNS_LABEL);
  return [...lengthProblem(value, LONGEST_LABEL), problem];
}

/** Checks the name of a pod or of most other objects (IsDNS1123Subdomain). */
export function checkDnsSubdomain(value: string): readonly string[] {
  return [...lengthProblem(value, LONGEST_SUBDOMAIN), ...patternProblem(value, DNS_SUBDOMAIN)];
}

/** Checks a DNS search path, which may contain underscores (IsDNS1123SubdomainWithUnderscore). */
export function checkDnsSearch(value: string): readonly string[] {
  return [...lengthProblem(value, LONGEST_SUBDOMAIN), ...patternProblem(value, UNDERSCORE_SUBDOMAIN)];
}

function checkPrefix(prefix: string): readonly string[] {
  if (prefix === '') return ['prefix part must be non-empty'];
  return checkDnsSubdomain(prefix).map((problem) => `prefix part ${problem}`);
}

function checkNamePart(name: string): readonly string[] {
  const empty = name === '' ? ['must be non-empty'] : [];
  return [...empty, ...lengthProblem(name, LONGEST_LABEL), ...patternProblem(name, QUALIFIED_NAME)].map(
    (problem) => `name part ${problem}`,
  );
}

/** Checks the key of a label or annotation, or a resource name: `example.com/name` or `name` (IsQualifiedName). */
export function checkQualifiedName(value: string): readonly string[] {
  const [first = '', second, ...more] = value.split('/');
  if (more.length > 0) {
    const hint = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
    return [`a qualified name ${describe(QUALIFIED_NAME)} ${hint}`];
  }
  return second === undefined ? checkNamePart(first) : [...checkPrefix(first), ...checkNamePart(second)];
}

/** Checks the value of a label (IsValidLabelValue). */
export function checkLabelValue(value: string): readonly string[] {
  return [...lengthProblem(value, LONGEST_LABEL), ...patternProblem(value, LABEL_VALUE)];
}

/** Checks the name of a port (IsValidPortName). */
export function checkPortName(value: string): readonly string[] {
  const rules: readonly (readonly [boolean, string])[] = [
    [/^[-a-z0-9]+$/.test(value), 'must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)'],
    [/[a-z]/.test(value), 'must contain at least one letter (a-z)'],
    [!value.includes('--'), 'must not contain consecutive hyphens'],
    [!/^-|-$/.test(value), 'must not begin or end with a hyphen'],
  ];
  return [...lengthProblem(value, 15), ...rules.flatMap(([kept, problem]) => (kept ? [] : [problem]))];
}

/** Checks the name of an environment variable: any printable characters except `=` (IsRelaxedEnvVarName). */
export function checkEnvName(value: string): readonly string[] {
  if (value === '') return ['environment variable name must be non-empty'];
  return /^[\x20-\x3c\x3e-\x7e]+$/.test(value)
    ? []
    : ["a valid environment variable name must consist only of printable ASCII characters other than '='"];
}

/** Checks the name of an HTTP header (IsHTTPHeaderName). */
export function checkHeaderName(value: string): readonly string[] {
  return patternProblem(value, HTTP_HEADER);
}

/** Checks a key of a ConfigMap or Secret (IsConfigMapKey). */
export function checkConfigKey(value: string): readonly string[] {
  return [
    ...lengthProblem(value, LONGEST_SUBDOMAIN),
    ...patternProblem(value, CONFIG_KEY),
    ...checkNotParent(value),
  ];
}

function checkNotParent(value: string): readonly string[] {
  if (value === '.') return ["must not be '.'"];
  if (value === '..') return ["must not be '..'"];
  return value.startsWith('..') ? ["must not start with '..'"] : [];
}

/** IPv4 addresses that are written as IPv6 addresses. */
const MAPPED_IPV4 = new BlockList();
MAPPED_IPV4.addSubnet('::ffff:0:0', 96, 'ipv6');

/** Checks an IPv4 or IPv6 address (IsValidIPForLegacyField with the feature gate StrictIPCIDRValidation). */
export function checkIp(value: string): readonly string[] {
  const withoutZeros = value.replace(/(?<![0-9a-f])0+(?=[0-9a-f])/gi, '');
  if (isIP(withoutZeros) === 0 || value.includes('%'))
    return ['must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'];
  if (isIP(value) === 0) return ['must not have leading 0s'];
  return isIPv6(value) && MAPPED_IPV4.check(value, 'ipv6') ? ['must not be an IPv4-mapped IPv6 address'] : [];
}
