import {MASK, maskSecrets} from '../../cli/redaction/mask-secrets.js';
import {isObject} from '../../base/is-object.js';
import type {Json, JsonObject} from '../../format/json.js';
import {isPlainName, isPlainText} from '../../cli/redaction/plain-bytes.js';
import type {MessageMask} from '../../recording/lines/call-line.js';
import type {PartMask} from '../../recording/lines/message-json.js';
import type {Side} from '../../recording/tap/connection-tap.js';

/** Further parts of messages to mask, beside credentials, streaming URLs and secret-looking variables. */
export interface MaskOptions {
  /** True to mask the values of all environment variables. */
  readonly env: boolean;
  /** True to record the output of ExecSync and of sessions, of which otherwise only the length is recorded. */
  readonly keepOutput: boolean;
  /** True to record what clients send in sessions. */
  readonly keepInput: boolean;
}

/** Masks parts of messages by what they contain and by the names of their own members. */
const PARTS: PartMask = {mask: maskSecrets, isPlainText, isPlainName};

/** Returns the masks of messages. */
export function createMessageMask({env, keepOutput}: Pick<MaskOptions, 'env' | 'keepOutput'>): MessageMask {
  const keeps = (method: string, from: Side): boolean =>
    keepOutput && method === 'ExecSync' && from === 'server';
  return {
    message: (method, from, message) => {
      // Long texts are truncated afterwards: the JSON in them could not be read any more.
      const masked = maskSecrets(env ? maskVariables(message) : message) as JsonObject;
      if (!keeps(method, from)) return masked;
      const {stdout, stderr} = message;
      return {...masked, ...(stdout !== undefined && {stdout}), ...(stderr !== undefined && {stderr})};
    },
    // Variables are recognized by the list that they are in.
    parts: (method, from) => (env || keeps(method, from) ? undefined : PARTS),
  };
}

/** Masks the values of all lists of variables, wherever they are, also in the JSON of verbose information. */
function maskVariables(json: Json, name = ''): Json {
  if (Array.isArray(json)) return (json as readonly Json[]).map((item) => maskVariable(item, name));
  if (typeof json !== 'object' || json === null) return json;
  return Object.fromEntries(
    Object.entries(json as JsonObject).map(([member, value]) => [
      member,
      name === 'info' && typeof value === 'string' ? maskInfo(value) : maskVariables(value, member),
    ]),
  );
}

/** Masks an item of a list: the CRI has variables as objects in `envs`, the OCI as `NAME=VALUE` in `env` or `Env`. */
function maskVariable(item: Json, list: string): Json {
  if (list === 'envs' && isObject(item)) return {...item, value: MASK};
  if (/^env$/i.test(list) && typeof item === 'string') return item.replace(/=[^]*/, `=${MASK}`);
  return maskVariables(item);
}

/** Masks variables in a text of verbose information, which is JSON mostly. */
function maskInfo(text: string): string {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.stringify(maskVariables(JSON.parse(text) as Json));
  } catch (error) {
    if (error instanceof SyntaxError) return MASK; // what is in it is not known
    throw error;
  }
}
