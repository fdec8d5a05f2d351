import {ConfigError, messageOf} from '../../base/errors.js';
import {ifPresent} from '../../base/fs/files.js';
import {readBoundedFile} from '../../base/fs/read-bounded-file.js';
import {systemErrorMessage} from '../../base/system-error-message.js';
import type {AuthConfig, Init} from '../../cri/index.js';
import {matchScore, type ImageRepository} from './image-repository.js';

/** Contents of docker's config.json or podman's auth.json. */
export interface AuthFile {
  readonly auths: Readonly<Record<string, unknown>>;
  /** Credential helper for all registries. */
  readonly credsStore: string | undefined;
  /** Credential helpers by registry. */
  readonly credHelpers: Readonly<Record<string, unknown>>;
}

/**
 * Reads a credential file; undefined if it does not exist. Rejects with ConfigError, whose message contains nothing
 * of the file.
 */
export async function readAuthFile(path: string): Promise<AuthFile | undefined> {
  const text = await ifPresent(() => readBoundedFile(path)).catch((error: unknown) => {
    throw new ConfigError(`cannot read credentials in "${path}": ${systemErrorMessage(error)}`, {
      cause: error,
    });
  });
  if (text === undefined) return undefined;
  const json = fields(parsed(text.toString(), path));
  return {
    auths: fields(json['auths']),
    credsStore: textOf(json['credsStore']),
    credHelpers: fields(json['credHelpers']),
  };
}

/** Parses JSON. The error omits the engine's message, which quotes the text and thus may contain a password. */
function parsed(text: string, path: string): unknown {
  try {
    return text.trim() === '' ? {} : JSON.parse(text);
  } catch (error) {
    const at = /at position \d+.*$/.exec(messageOf(error))?.[0] ?? '';
    throw new ConfigError(`cannot read credentials in "${path}": not JSON ${at}`.trimEnd());
  }
}

/** Returns the credential helper for an image, undefined for none. */
export function helperFor(
  {credHelpers, credsStore}: AuthFile,
  repository: ImageRepository,
): string | undefined {
  return textOf(bestMatch(credHelpers, repository)) ?? credsStore;
}

/** Returns the credentials that the file contains for an image, undefined for none. */
export function authFromFile({auths}: AuthFile, repository: ImageRepository): Init<AuthConfig> | undefined {
  const entry = fields(bestMatch(auths, repository));
  const identityToken = textOf(entry['identitytoken']);
  const registryToken = textOf(entry['registrytoken']);
  if (identityToken !== undefined) return {identityToken};
  if (registryToken !== undefined) return {registryToken};
  const username = textOf(entry['username']);
  if (username !== undefined) return {username, password: textOf(entry['password']) ?? ''};
  const decoded = Buffer.from(textOf(entry['auth']) ?? '', 'base64')
    .toString()
    .replace(/\0+$/, '');
  const colon = decoded.indexOf(':');
  if (colon < 1) return undefined;
  return {username: decoded.slice(0, colon), password: decoded.slice(colon + 1)};
}

/** Returns the value of the key that matches best; undefined if none matches. */
function bestMatch(table: Readonly<Record<string, unknown>>, repository: ImageRepository): unknown {
  const matching = Object.entries(table)
    .map(([key, value]) => ({value, score: matchScore(key, repository) ?? -1}))
    .filter(({score}) => score >= 0)
    .toSorted((a, b) => b.score - a.score);
  return matching[0]?.value;
}

function fields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
