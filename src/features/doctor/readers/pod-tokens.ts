import {join} from 'node:path';
import {forEachLimit} from '../../../base/async/for-each-limit.js';
import {parseJsonObject} from '../../../base/parse-json-object.js';
import {isMissing, valueOf, type Fact} from '../fact.js';
import type {PodToken, PodTokens} from '../node-snapshot.js';
import type {FileReader} from './file-reader.js';

/** Directory of projected volumes in that of a pod; ServiceAccount tokens are in such. */
const PROJECTED = 'volumes/kubernetes.io~projected';
/** Name of the file of a token, as admission adds it and most manifests have it. */
const TOKEN = 'token';
const MAX_PODS = 1000;
const MAX_TOKEN_BYTES = 16 * 1024;

/** Number of pods that are read at once. */
const AT_ONCE = 32;

/**
 * Reads when the ServiceAccount tokens in the volumes of the pods of root directories expire. Nothing else of a token is kept.
 */
export async function readPodTokens(rootDirs: readonly string[], node: FileReader): Promise<Fact<PodTokens>> {
  const lists = await Promise.all(
    rootDirs.map(async (rootDir) => {
      const directory = join(rootDir, 'pods');
      return {directory, uids: await node.names(directory)};
    }),
  );
  const pods: {readonly uid: string; readonly place: string}[] = [];
  for (const {directory, uids} of lists) {
    if ('error' in uids && !isMissing(uids)) return uids;
    pods.push(...(valueOf(uids) ?? []).map((uid) => ({uid, place: join(directory, uid, PROJECTED)})));
  }
  const tokens: PodToken[] = [];
  let podsLeftOut = Math.max(0, pods.length - MAX_PODS);
  await forEachLimit(pods.slice(0, MAX_PODS), AT_ONCE, async ({uid, place}) => {
    const found = await readTokens(uid, place, node);
    if ('error' in found) podsLeftOut += 1;
    else tokens.push(...found.value);
  });
  return {value: {tokens: tokens.toSorted((a, b) => (a.path < b.path ? -1 : 1)), podsLeftOut}};
}

async function readTokens(uid: string, place: string, node: FileReader): Promise<Fact<readonly PodToken[]>> {
  const volumes = await node.names(place);
  if ('error' in volumes) return isMissing(volumes) ? {value: []} : volumes;
  const tokens: PodToken[] = [];
  for (const volume of volumes.value) {
    const path = join(place, volume, TOKEN);
    const text = await node.text(path, MAX_TOKEN_BYTES);
    if ('error' in text && !isMissing(text)) return text;
    const expiresAt = tokenExpiry(valueOf(text) ?? '');
    if (expiresAt !== undefined) tokens.push({uid, path, expiresAt});
  }
  return {value: tokens};
}

/** Returns when a JSON web token expires, as RFC 3339; undefined if it does not, or is none. Pure. */
export function tokenExpiry(token: string): string | undefined {
  const [, payload = ''] = token.trim().split('.');
  const {exp} = parseJsonObject(Buffer.from(payload, 'base64url').toString());
  if (typeof exp !== 'number') return undefined;
  const expiresAt = new Date(exp * 1000);
  return Number.isFinite(expiresAt.getTime()) ? expiresAt.toISOString() : undefined;
}
