import {join} from 'node:path';
import {parseJsonObject} from '../../../base/parse-json-object.js';
import {isMissing, valueOf, type Fact} from '../fact.js';
import type {PodToken} from '../node-snapshot.js';
import type {FileReader} from './file-reader.js';

/** Directory of projected volumes in that of a pod; ServiceAccount tokens are in such. */
const PROJECTED = 'volumes/kubernetes.io~projected';
/** Name of the file of a token, as admission adds it and most manifests have it. */
const TOKEN = 'token';
const MAX_PODS = 1000;
const MAX_TOKEN_BYTES = 16 * 1024;

/** Reads when the ServiceAccount tokens in the volumes of pods expire. Nothing else of a token is kept. */
export async function readPodTokens(rootDir: string, node: FileReader): Promise<Fact<readonly PodToken[]>> {
  const directory = join(rootDir, 'pods');
  const pods = await node.names(directory);
  if ('error' in pods) return isMissing(pods) ? {value: []} : pods;
  const tokens = await Promise.all(
    pods.value.slice(0, MAX_PODS).map(async (uid) => {
      const place = join(directory, uid, PROJECTED);
      const volumes = await node.names(place);
      const files = (valueOf(volumes) ?? []).map((volume) => join(place, volume, TOKEN));
      return await Promise.all(files.map(async (path) => await readToken(uid, path, node)));
    }),
  );
  return {value: tokens.flat(2)};
}

async function readToken(uid: string, path: string, node: FileReader): Promise<readonly PodToken[]> {
  const expiresAt = tokenExpiry(valueOf(await node.text(path, MAX_TOKEN_BYTES)) ?? '');
  return expiresAt === undefined ? [] : [{uid, path, expiresAt}];
}

/** Returns when a JSON web token expires, as RFC 3339; undefined if it does not, or is none. Pure. */
export function tokenExpiry(token: string): string | undefined {
  const [, payload = ''] = token.trim().split('.');
  const {exp} = parseJsonObject(Buffer.from(payload, 'base64url').toString());
  if (typeof exp !== 'number') return undefined;
  const expiresAt = new Date(exp * 1000);
  return Number.isFinite(expiresAt.getTime()) ? expiresAt.toISOString() : undefined;
}
