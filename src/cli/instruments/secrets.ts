import type {Json} from '../../format/json.js';

/** What is shown in place of a secret. */
const MASK = '***';

/** The parts of the CRI's AuthConfig that let somebody in. */
const SECRET_FIELDS: ReadonlySet<string> = new Set(['auth', 'password', 'identityToken', 'registryToken']);
/** Names of variables that hold such things. */
const SECRET_NAME = /passw|pwd|secret|token|credential|api_?key|private_?key|access_?key|auth/i;
/** `NAME=value` in a text, such as a process's environment in what a runtime says of a container. */
const ASSIGNMENT = /([A-Za-z_]\w*)=([^"\\\s]+)/g;
/** The same in a text that is JSON, such as containerd's configuration in what it says of itself. */
const SECRET_MEMBER = /("(?:password|auth|identity_?token|registry_?token)"\s*:\s*)"(?:[^"\\]|\\.)+"/gi;
const VARIABLE_MEMBER = /("key":"([^"]*)","value":)"(?:[^"\\]|\\.)+"/g;
/** The end of a streaming URL: who knows it may use it. */
const STREAMING_URL = /^((?:\w+:\/\/[^/]*)?\/(?:exec|attach|portforward)\/)[^/?]+/;

/** The same data with passwords, tokens and secret-looking variables masked. */
export function withoutSecrets(json: Json): Json {
  if (typeof json === 'string') return maskedText(json);
  if (Array.isArray(json)) return (json as readonly Json[]).map(withoutSecrets);
  if (typeof json !== 'object' || json === null) return json;
  const fields = json as Readonly<Record<string, Json>>;
  const secretVariable = typeof fields['key'] === 'string' && SECRET_NAME.test(fields['key']);
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => {
      const secret = SECRET_FIELDS.has(name) || (name === 'value' && secretVariable);
      return [name, secret && typeof value === 'string' && value !== '' ? MASK : withoutSecrets(value)];
    }),
  );
}

function maskedText(text: string): string {
  return text
    .replace(STREAMING_URL, `$1${MASK}`)
    .replace(SECRET_MEMBER, `$1"${MASK}"`)
    .replace(VARIABLE_MEMBER, (all, rest: string, name: string) =>
      SECRET_NAME.test(name) ? `${rest}"${MASK}"` : all,
    )
    .replace(ASSIGNMENT, (all, name: string) => (SECRET_NAME.test(name) ? `${name}=${MASK}` : all));
}
