import type {Json} from '../../format/json.js';

/** Placeholder for a secret. */
export const MASK = '***';

/** Credential fields of the CRI's AuthConfig. */
const SECRET_FIELDS: ReadonlySet<string> = new Set(['auth', 'password', 'identityToken', 'registryToken']);
/** Fields with command output, which may contain anything; a string is base64 here. */
const OUTPUT_FIELDS: ReadonlySet<string> = new Set(['stdout', 'stderr']);
/** Member with the name of a variable, whose value is beside it. */
const NAME_FIELD = 'key';
/** Length of the longest name for which `isSpecialName` is true. */
export const LONGEST_SPECIAL_NAME = 13;
/** Pattern of variable names that indicate a secret. */
const SECRET_NAME = /passw|pwd|secret|token|credential|api_?key|private_?key|access_?key|auth/i;
/**
 * Name before a value in a text, such as a variable of a process environment in a runtime's verbose container status.
 */
const ASSIGNED_NAME = /(\\*["'])?(?<!\w)(\w+)=/g;
/**
 * Value in its own quotes, which are escaped in JSON text, or up to a character that certainly ends it. Only ASCII white space
 * does: a no-break space does not end a shell's word, and is a byte of other characters in a text that is read as latin1.
 */
const VALUE = /(\\*["'])(?:[^]*?(?<!\\)\1|[^]*)[^\t-\r "\\]*|[^\t-\r "\\]+|/y;
/** Secret member in JSON text, such as containerd's configuration in its verbose status. */
const SECRET_MEMBER = /("(?:password|auth|identity_?token|registry_?token)"\s*:\s*)"(?:[^"\\]|\\.)+"/gi;
const VARIABLE_MEMBER = /("key":"([^"]*)","value":)"(?:[^"\\]|\\.)+"/g;
/** End of a streaming URL, with or without a scheme and a path. Anyone who knows the URL can use it. */
const STREAMING_URL =
  /(^(?:\/cri)?|\/\/[^\s"/?#]*(?:\/[^\s"/?#]+)*?)(\/(?:exec|attach|portforward)\/)[^\t-\r "/?]+/g;
/** Words of which every streaming URL has one, between slashes. */
export const STREAMING_WORDS = ['exec', 'attach', 'portforward'] as const;
/** Part of every streaming URL. */
const STREAMING_PATH = /\/(?:exec|attach|portforward)\//;
/** Maximum length of a text that is examined and shown, in characters: patterns take longer than its length. */
export const LONGEST_TEXT = 64 * 1024;

/** Masks passwords, tokens and secret-looking variables in data, and truncates very long texts. Data without any is not copied. */
export function maskSecrets(json: Json): Json {
  if (typeof json === 'string') return maskSecretText(json);
  if (typeof json !== 'object' || json === null) return json;
  if (Array.isArray(json)) {
    const items = json as readonly Json[];
    const masked: readonly Json[] = items.map(maskSecrets);
    return masked.every((item, index) => item === items[index]) ? items : masked;
  }
  const fields = json as Readonly<Record<string, Json>>;
  const key = fields[NAME_FIELD];
  const secretVariable = typeof key === 'string' && SECRET_NAME.test(key);
  const masked = Object.keys(fields).map((name): [string, Json] => [
    name,
    maskMember(name, fields[name] ?? null, secretVariable),
  ]);
  return masked.every(([name, value]) => value === fields[name]) ? json : Object.fromEntries(masked);
}

/** Reports whether the value of a member of that name, or what is beside it, is masked for its name. */
export function isSpecialName(name: string): boolean {
  return name === NAME_FIELD || SECRET_FIELDS.has(name) || OUTPUT_FIELDS.has(name);
}

function maskMember(name: string, value: Json, secretVariable: boolean): Json {
  if (typeof value !== 'string' || value === '') return maskSecrets(value);
  if (OUTPUT_FIELDS.has(name)) return `(${Buffer.byteLength(value, 'base64')} bytes)`;
  const secret = SECRET_FIELDS.has(name) || (name === 'value' && secretVariable);
  return secret ? MASK : maskSecretText(value);
}

/** Masks passwords, tokens and secret-looking variables in a text, and truncates a very long text. */
export function maskSecretText(text: string): string {
  const rest = text.length - LONGEST_TEXT;
  const shown = maskAll(text.slice(0, LONGEST_TEXT));
  return rest > 0 ? `${shown}… (${rest} more characters)` : shown;
}

/**
 * Masks passwords, tokens and secret-looking variables in a line, whose characters may stand for bytes (latin1). Cuts the end of
 * a very long line off, unless there is certainly no secret in it.
 */
export function maskSecretLine(text: string): {readonly line: string; readonly isCut: boolean} {
  const isCut = text.length > LONGEST_TEXT && mayHaveSecret(text);
  return {line: maskAll(isCut ? text.slice(0, LONGEST_TEXT) : text), isCut};
}

function maskAll(text: string): string {
  if (!mayHaveSecret(text)) return text;
  return withoutAssigned(
    text
      .replace(STREAMING_URL, `$1$2${MASK}`)
      .replace(SECRET_MEMBER, `$1"${MASK}"`)
      .replace(VARIABLE_MEMBER, (all, member: string, name: string) =>
        SECRET_NAME.test(name) ? `${member}"${MASK}"` : all,
      ),
  );
}

/** Reports whether a text has an assignment, a quoted member or a streaming URL. Most texts of a runtime have none. */
function mayHaveSecret(text: string): boolean {
  return text.includes('=') || text.includes('"') || (text.includes('/') && STREAMING_PATH.test(text));
}

function withoutAssigned(text: string): string {
  const firstStop = text.search(/[\t-\r "']/);
  let shown = '';
  let shownTo = 0;
  for (const {0: all, 1: quote, 2: name = '', index} of text.matchAll(ASSIGNED_NAME)) {
    const start = index + all.length;
    if (start <= shownTo || !SECRET_NAME.test(name)) continue;
    const isArgument = firstStop === -1 || index < firstStop;
    shown += text.slice(shownTo, start);
    shownTo = endOfValue(text, start, {quote, isArgument});
    if (shownTo > start) shown += MASK;
  }
  return shown + text.slice(shownTo);
}

/**
 * Returns the end index of the value at `start`. It ends with the quote that was opened before its name, or with the
 * argument that contains it.
 */
function endOfValue(
  text: string,
  start: number,
  {quote, isArgument}: {readonly quote: string | undefined; readonly isArgument: boolean},
): number {
  if (quote !== undefined) {
    let end = text.indexOf(quote, start);
    while (end > start && text[end - 1] === '\\') end = text.indexOf(quote, end + 1);
    return end === -1 ? text.length : end;
  }
  VALUE.lastIndex = start;
  const [value = '', opening] = VALUE.exec(text) ?? [];
  return isArgument && opening === undefined ? text.length : start + value.length;
}
