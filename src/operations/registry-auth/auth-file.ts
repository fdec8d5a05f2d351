import {readFile} from 'node:fs/promises';
import {ConfigError, messageOf} from '../../base/errors.js';
import {ifPresent} from '../../base/files.js';
import {systemReason} from '../../base/system-reason.js';
import type {AuthConfig, Init} from '../../cri/index.js';
import {fitOf, type ImagePlace} from './registry-of.js';

/** What docker's config.json and podman's auth.json say about registries. */
export interface AuthFile {
  readonly auths: Readonly<Record<string, unknown>>;
  /** The helper for all registries. */
  readonly credsStore: string | undefined;
  /** Helpers of single registries. */
  readonly credHelpers: Readonly<Record<string, unknown>>;
}

/** Reads a credential file; undefined when there is none. Throws ConfigError, which repeats nothing of it. */
export async function readAuthFile(path: string): Promise<AuthFile | undefined> {
  const text = await ifPresent(() => readFile(path, 'utf8')).catch((error: unknown) => {
    throw new ConfigError(`reading credentials in "${path}": ${systemReason(error)}`, {cause: error});
  });
  if (text === undefined) return undefined;
  const json = fields(parsed(text, path));
  return {
    auths: fields(json['auths']),
    credsStore: textOf(json['credsStore']),
    credHelpers: fields(json['credHelpers']),
  };
}

/** The JSON engine's own message shows what it could not read, which may be a password. */
function parsed(text: string, path: string): unknown {
  try {
    return text.trim() === '' ? {} : JSON.parse(text);
  } catch (error) {
    const at = /at position \d+.*$/.exec(messageOf(error))?.[0] ?? '';
    throw new ConfigError(`reading credentials in "${path}": not JSON ${at}`.trimEnd());
  }
}

/** The helper to ask for an image; undefined for none. */
export function helperFor({credHelpers, credsStore}: AuthFile, place: ImagePlace): string | undefined {
  return textOf(best(credHelpers, place)) ?? credsStore;
}

/** The credentials that the file itself holds for an image; undefined for none. */
export function authIn({auths}: AuthFile, place: ImagePlace): Init<AuthConfig> | undefined {
  const entry = fields(best(auths, place));
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

/** The value under the key that fits best. */
function best(table: Readonly<Record<string, unknown>>, place: ImagePlace): unknown {
  const fitting = Object.entries(table)
    .map(([key, value]) => ({value, fit: fitOf(key, place) ?? -1}))
    .filter(({fit}) => fit >= 0)
    .toSorted((a, b) => b.fit - a.fit);
  return fitting[0]?.value;
}

function fields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
