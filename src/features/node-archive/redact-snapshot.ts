import {isObject} from '../../base/is-object.js';
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
 * as `password`. Pure.
 */
export function redactSnapshot(data: unknown): unknown {
  const redactor = new SecretRedactor();
  const names = namesIn(data);
  redactor.add(environmentValues(data).filter((value) => !names.has(value)));
  return redacted(data, redactor);
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

/** Returns the literal values of environment variables. */
function environmentValues(data: unknown): readonly string[] {
  if (Array.isArray(data)) return data.flatMap(environmentValues);
  if (!isObject(data)) return [];
  return Object.entries(data).flatMap(([key, value]) =>
    key === 'env' && Array.isArray(value)
      ? value.flatMap((variable: unknown) =>
          isObject(variable) && typeof variable['value'] === 'string' && isTelling(variable['value'])
            ? [variable['value']]
            : [],
        )
      : environmentValues(value),
  );
}

/** Reports whether the value of a variable can be recognized: numbers and switches occur in too many other places. */
export const isTelling = (value: string): boolean =>
  value.length >= 6 && !/^[\d.]+$|^(?:true|false)$/i.test(value);

function redacted(data: unknown, redactor: SecretRedactor): unknown {
  if (typeof data === 'string') return redactText(redactor.mask(data));
  if (Array.isArray(data)) return withoutFlagValues(data).map((item) => redacted(item, redactor));
  if (!isObject(data)) return data;
  return Object.fromEntries(
    Object.entries(data).flatMap(([key, value]) => {
      if (key === LAST_APPLIED) return [];
      if (key === 'env' && Array.isArray(value)) return [[key, value.map(withoutValue)]];
      return [[key, isSecretText(key, value) ? MASK : redacted(value, redactor)]];
    }),
  );
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
  if (!isObject(variable)) return variable;
  return typeof variable['value'] === 'string' ? {...variable, value: MASK} : variable;
}

const SECRET_KEY = new RegExp(`^${SECRET_NAME}$`, 'i');
/** Fields of Kubernetes that name an object or a path. */
const REFERENCES = /(?:name|ref|path|file|policy|serviceaccounttoken)s?$/i;

function isSecretText(key: string, value: unknown): boolean {
  return typeof value === 'string' && SECRET_KEY.test(key) && !REFERENCES.test(key);
}

/** Returns a text without secrets that can be recognized. Pure. */
export function redactText(text: string): string {
  const plain = text.replace(URL_TEXT, (url) => (/[@?#]/.test(url) ? redactUrlText(url) : url));
  return PATTERNS.reduce((masked, [pattern, kept]) => masked.replace(pattern, kept), plain);
}
