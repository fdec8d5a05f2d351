import type {Json} from '../../format/json.js';

/** What is shown in place of a secret. */
export const MASK = '***';

/** The parts of the CRI's AuthConfig that let somebody in. */
const SECRET_FIELDS: ReadonlySet<string> = new Set(['auth', 'password', 'identityToken', 'registryToken']);
/** What a command wrote, in base64 when it is text here: it may be anything. */
const OUTPUT_FIELDS: ReadonlySet<string> = new Set(['stdout', 'stderr']);
/** Names of variables that hold such things. */
const SECRET_NAME = /passw|pwd|secret|token|credential|api_?key|private_?key|access_?key|auth/i;
/** A name with a value behind it in a text, such as a process's environment in what a runtime says of a container. */
const ASSIGNED_NAME = /(\\*["'])?(?<!\w)(\w+)=/g;
/** A value in quotes of its own, which in a text that is JSON are escaped, or up to where it surely ends. */
const VALUE = /(\\*["'])(?:[^]*?(?<!\\)\1|[^]*)[^\s"\\]*|[^\s"\\]+|/y;
/** The same in a text that is JSON, such as containerd's configuration in what it says of itself. */
const SECRET_MEMBER = /("(?:password|auth|identity_?token|registry_?token)"\s*:\s*)"(?:[^"\\]|\\.)+"/gi;
const VARIABLE_MEMBER = /("key":"([^"]*)","value":)"(?:[^"\\]|\\.)+"/g;
/** The end of a streaming URL, with or without a scheme and a path in front: who knows it may use it. */
const STREAMING_URL =
  /(^(?:\/cri)?|\/\/[^\s"/?#]*(?:\/[^\s"/?#]+)*?)(\/(?:exec|attach|portforward)\/)[^\s"/?]+/g;
/** More of a text is not shown. */
const LONGEST_TEXT = 64 * 1024;

/** The same data with passwords, tokens and secret-looking variables masked, and very long texts cut. */
export function withoutSecrets(json: Json): Json {
  if (typeof json === 'string') return maskedText(json);
  if (Array.isArray(json)) return (json as readonly Json[]).map(withoutSecrets);
  if (typeof json !== 'object' || json === null) return json;
  const fields = json as Readonly<Record<string, Json>>;
  const secretVariable = typeof fields['key'] === 'string' && SECRET_NAME.test(fields['key']);
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => {
      if (typeof value !== 'string' || value === '') return [name, withoutSecrets(value)];
      if (OUTPUT_FIELDS.has(name)) return [name, `(${Buffer.byteLength(value, 'base64')} bytes)`];
      const secret = SECRET_FIELDS.has(name) || (name === 'value' && secretVariable);
      return [name, secret ? MASK : maskedText(value)];
    }),
  );
}

/** The same text with passwords, tokens and secret-looking variables masked; a very long one is cut. */
export function maskedText(text: string): string {
  const rest = text.length - LONGEST_TEXT;
  if (rest > 0) return `${maskedText(text.slice(0, LONGEST_TEXT))}… (${rest} more characters)`;
  return withoutAssigned(
    text
      .replace(STREAMING_URL, `$1$2${MASK}`)
      .replace(SECRET_MEMBER, `$1"${MASK}"`)
      .replace(VARIABLE_MEMBER, (all, member: string, name: string) =>
        SECRET_NAME.test(name) ? `${member}"${MASK}"` : all,
      ),
  );
}

function withoutAssigned(text: string): string {
  const firstStop = text.search(/[\s"']/);
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

/** Where the value at `start` ends: with the quote that was opened before its name, or an argument that it is part of. */
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
