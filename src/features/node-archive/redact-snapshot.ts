import {isObject} from '../../base/is-object.js';
import {formatCompactJson, parseJson, type Json} from '../../format/json.js';
import {redactUrlText} from '../../format/redact-url.js';
import {MASK, SecretRedactor} from '../../format/secret-redactor.js';

/** Keys of a manifest whose values are not needed to examine a node, and may be secret. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** Names of settings whose values are secret, wherever they are. */
const SECRET_NAME = String.raw`[\w.-]*(?:passw(?:or)?d|passphrase|secret|token|api[-_]?key|access[-_]?key|private[-_]?key|credentials?|auth)[\w.-]*`;

/** Texts with secrets; `$1` is what remains. */
const PATTERNS: readonly (readonly [RegExp, string])[] = [
  // The end may have been cut off.
  [/(-----BEGIN [A-Z ]*PRIVATE KEY-----)[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, `$1${MASK}`],
  [/\beyJ[\w-]{8,}\.[\w-]+(?:\.[\w-]*)?/g, MASK],
  [/\b((?:Bearer|Basic)\s+)[\w.~+/=-]{6,}/gi, `$1${MASK}`],
  [/\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g, MASK],
  [
    new RegExp(String.raw`(["']?\b${SECRET_NAME}["']?\s*[=:]\s*)(?:"[^"]*"|'[^']*'|[^\s"',;&]+)`, 'gi'),
    `$1${MASK}`,
  ],
  [new RegExp(String.raw`(--?${SECRET_NAME}\s+)(?!-)\S+`, 'gi'), `$1${MASK}`],
];

/** Text that is a URL, possibly with credentials or a query. */
const URL_TEXT = /\b[a-z][a-z0-9+.-]*:\/\/[^\s"'<>]+/gi;

/**
 * Returns plain data without secrets: values of environment variables, which also disappear from logs and messages, the
 * copy of the manifest that kubectl adds, private keys, tokens, credentials in URLs, and values of settings with names such
 * as `password`. Texts that are JSON, such as the verbose information of a runtime, are redacted as data. Pure.
 */
export function redactSnapshot(data: unknown): unknown {
  const redactor = new SecretRedactor();
  const names = namesIn(data);
  redactor.add(environmentValues(data).filter((value) => !names.has(value)));
  return redacted(data, redactor, true);
}

/** Returns the names of objects: a variable with the name of its namespace must not hide it everywhere. */
function namesIn(data: unknown, names = new Set<unknown>()): ReadonlySet<unknown> {
  if (Array.isArray(data)) for (const item of data) namesIn(item, names);
  else if (isObject(data))
    for (const [key, value] of Object.entries(data))
      if (/^(name|namespace|nodeName|uid)$/.test(key)) names.add(value);
      else namesIn(value, names);
  return names;
}

/** Returns the values of environment variables that can be recognized elsewhere. */
function environmentValues(data: unknown): readonly string[] {
  if (typeof data === 'string') return environmentValuesOfJson(data);
  if (Array.isArray(data)) return data.flatMap(environmentValues);
  if (!isObject(data)) return [];
  return Object.entries(data).flatMap(([key, value]) =>
    isEnvironment(key, value) ? value.flatMap(tellingValueOf) : environmentValues(value),
  );
}

function environmentValuesOfJson(text: string): readonly string[] {
  try {
    const data = jsonIn(text);
    return data === undefined ? [] : environmentValues(data);
  } catch (error) {
    // It is nested so deeply that it is masked as a whole.
    if (error instanceof RangeError) return [];
    throw error;
  }
}

/** Reports whether a member is a list of variables: of a Pod, of the CRI, or of the OCI. */
function isEnvironment(key: string, value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && /^envs?$/i.test(key);
}

/** Variables that name what everybody may know. */
const PUBLIC = /^(PATH|HOME|TERM|HOSTNAME|LANG|PWD|SHLVL)$/;

/** Returns the value of a variable, in the form `NAME=value` or an object, if it can be recognized elsewhere. */
function tellingValueOf(variable: unknown): readonly string[] {
  if (typeof variable === 'string') return tellingValues([variable]);
  if (!isObject(variable) || typeof variable['value'] !== 'string') return [];
  return tellingValues([`${String(variable['name'] ?? variable['key'])}=${variable['value']}`]);
}

/** Returns the values of variables (`NAME=value`) that may be secret and can be recognized in other texts. */
export function tellingValues(variables: readonly string[]): readonly string[] {
  return variables.flatMap((variable) => {
    const split = variable.indexOf('=');
    const value = variable.slice(split + 1);
    return PUBLIC.test(variable.slice(0, split)) || !isTelling(value) ? [] : [value];
  });
}

/** Reports whether a value can be recognized: numbers, switches and directories occur in too many other places. */
const isTelling = (value: string): boolean =>
  value.length >= 6 && !/^[\d.]+$|^(?:true|false)$|^(?:\/[a-z0-9._-]{1,20})+\/?$/.test(value);

/** Members with a word of a fixed set, such as `Running`, that may also be the value of a variable. */
const WORDS = /^(kind|level|manager|phase|qosClass|result|state|status|type)$/;

/** `isOurs` is true for data of kcri and the runtime, false for JSON in a text, whose members anybody can name. */
function redacted(data: unknown, redactor: SecretRedactor, isOurs: boolean): unknown {
  if (typeof data === 'string') return redactedJson(data, redactor) ?? redactText(redactor.mask(data));
  if (Array.isArray(data)) return withoutFlagValues(data).map((item) => redacted(item, redactor, isOurs));
  if (!isObject(data)) return data;
  return Object.fromEntries(
    Object.entries(data).flatMap(([key, value]) => {
      if (key === LAST_APPLIED) return [];
      if (isEnvironment(key, value)) return [[key, value.map(withoutValue)]];
      if (isOurs && WORDS.test(key) && typeof value === 'string' && /^[A-Za-z_]+$/.test(value))
        return [[key, value]];
      return [[key, isSecretText(key, value) ? MASK : redacted(value, redactor, isOurs)]];
    }),
  );
}

/** Returns a text that is a JSON object or list without secrets, in its own form if it has none; undefined for others. */
function redactedJson(text: string, redactor: SecretRedactor): string | undefined {
  try {
    const data = jsonIn(text);
    if (data === undefined) return undefined;
    const masked = formatCompactJson(redacted(data, redactor, false) as Json, {escapeHtml: false});
    return masked === formatCompactJson(data, {escapeHtml: false}) ? text : masked;
  } catch (error) {
    if (error instanceof RangeError) return MASK;
    throw error;
  }
}

/** Returns the JSON object or list that a text is, undefined for any other text. Throws RangeError if it is nested too deeply. */
function jsonIn(text: string): Json | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Masks the word after a flag such as `--password`. */
function withoutFlagValues(words: readonly unknown[]): readonly unknown[] {
  const flag = new RegExp(`^--?${SECRET_NAME}$`, 'i');
  return words.map((word, index) => {
    const before = words[index - 1];
    return typeof word === 'string' && typeof before === 'string' && flag.test(before) ? MASK : word;
  });
}

function withoutValue(variable: unknown): unknown {
  if (typeof variable === 'string') return variable.replace(/=[\s\S]*$/, `=${MASK}`);
  if (!isObject(variable)) return variable;
  return typeof variable['value'] === 'string' ? {...variable, value: MASK} : variable;
}

const SECRET_KEY = new RegExp(`^${SECRET_NAME}$`, 'i');
/** Fields of Kubernetes that name an object or a path. */
const REFERENCES = /(?:name|ref|path|file|policy|serviceaccounttoken)s?$/i;

function isSecretText(key: string, value: unknown): boolean {
  const name = key.slice(key.lastIndexOf('/') + 1);
  return typeof value === 'string' && SECRET_KEY.test(name) && !REFERENCES.test(name);
}

/** Returns a text without secrets that can be recognized. Pure. */
export function redactText(text: string): string {
  const plain = text.replace(URL_TEXT, (url) => (/[@?#]/.test(url) ? redactUrlText(url) : url));
  return PATTERNS.reduce((masked, [pattern, kept]) => masked.replace(pattern, kept), plain);
}
