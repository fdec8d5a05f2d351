import {MASK, maskSecrets} from '../../cli/redaction/mask-secrets.js';
import type {Json, JsonObject} from '../../format/json.js';
import type {MessageMask} from '../../recording/lines/call-line.js';

/** Further parts of messages to mask, beside credentials, streaming URLs and secret-looking variables. */
export interface MaskOptions {
  /** True to mask the values of all environment variables. */
  readonly env: boolean;
  /** True to record the output of ExecSync and of sessions, of which otherwise only the length is recorded. */
  readonly keepOutput: boolean;
  /** True to record what clients send in sessions. */
  readonly keepInput: boolean;
}

/** Returns a function that masks the secrets of a message. */
export function createMessageMask({env, keepOutput}: Pick<MaskOptions, 'env' | 'keepOutput'>): MessageMask {
  return (method, from, message) => {
    const masked = maskSecrets(message) as JsonObject;
    const withoutEnv = env ? (maskVariables(masked) as JsonObject) : masked;
    if (!keepOutput || method !== 'ExecSync' || from === 'client') return withoutEnv;
    const {stdout, stderr} = message;
    return {...withoutEnv, ...(stdout !== undefined && {stdout}), ...(stderr !== undefined && {stderr})};
  };
}

/** Masks the values of all lists of variables, wherever they are. */
function maskVariables(json: Json, name = ''): Json {
  if (Array.isArray(json))
    return (json as readonly Json[]).map((item) =>
      name === 'envs' ? {...(item as JsonObject), value: MASK} : maskVariables(item),
    );
  if (typeof json !== 'object' || json === null) return json;
  return Object.fromEntries(
    Object.entries(json as JsonObject).map(([member, value]) => [member, maskVariables(value, member)]),
  );
}
