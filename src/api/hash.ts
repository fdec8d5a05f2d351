import {createHash} from 'node:crypto';
import type {Container, Pod} from './v1.js';

interface FnvParameters {
  readonly offset: bigint;
  readonly prime: bigint;
  readonly bits: number;
}

const FNV_32: FnvParameters = {offset: 0x811c9dc5n, prime: 0x01000193n, bits: 32};
const FNV_128: FnvParameters = {
  offset: 0x6c62272e07bb014262b821756295c58dn,
  prime: 0x0000000001000000000000000000013bn,
  bits: 128,
};

/** FNV-1a of the text's UTF-8 bytes. */
function fnv1a(text: string, {offset, prime, bits}: FnvParameters): bigint {
  let hash = offset;
  for (const byte of Buffer.from(text)) hash = BigInt.asUintN(bits, (hash ^ BigInt(byte)) * prime);
  return hash;
}

/** JSON as Go writes it: these characters are escaped although JSON doesn't ask for it. */
export function goJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/**
 * The kubelet's hash of a container, in lower-case hex without padding: it covers the name and the image only, so
 * that nothing else of a manifest restarts a container in place (kubecontainer.HashContainer).
 */
export function containerHash(container: Pick<Container, 'name' | 'image'>): string {
  const json = goJson({image: container.image, name: container.name});
  return fnv1a(`([]uint8)[${Buffer.from(json).join(' ')}]`, FNV_32).toString(16);
}

function sortKeys(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** JSON with sorted keys: equal for equal objects, whatever the manifest's order, format and comments were. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, sortKeys);
}

/** What a pod's UID is made from: all of it but the UID and the status. */
function uidContent(pod: Pod): string {
  const metadata = {...pod.metadata, uid: undefined};
  return canonicalJson({...pod, metadata, status: undefined});
}

/**
 * The UID of a static pod that has none, as 32 hex digits like the kubelet's (config/common.go applyDefaults):
 * FNV-1a 128 over the pod as decoded and over `origin`, which says where it was found: `host:NODEfile:PATH` or
 * `url:URL`. The digits differ from the kubelet's, which hashes Go's memory dump; what changes them doesn't.
 */
export function staticPodUid(pod: Pod, origin: string): string {
  return fnv1a(`${uidContent(pod)}${origin}`, FNV_128)
    .toString(16)
    .padStart(32, '0');
}

/**
 * The UID of a pod whose manifest has none: a UUID (version 8) made from namespace, name and content, so that the
 * same manifest is the same pod and a changed one is a new pod.
 */
export function stablePodUid(pod: Pod): string {
  const digest = createHash('sha256')
    .update(`${pod.metadata.namespace ?? ''}/${pod.metadata.name ?? ''}\n${uidContent(pod)}`)
    .digest();
  digest.writeUInt8((digest.readUInt8(6) & 0x0f) | 0x80, 6);
  digest.writeUInt8((digest.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = digest.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join(
    '-',
  );
}
