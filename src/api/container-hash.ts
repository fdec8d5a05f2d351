import {createHash} from 'node:crypto';
import {byKey} from '../base/compare.js';
import type {Container, Pod} from './types/v1-pod.js';

/** FNV-1a, 32 bits, of the text's UTF-8 bytes. */
function fnv32(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}

/** The prime of FNV with 128 bits is 2^88 + this. */
const FNV_128_LOW = 0x13b;

/**
 * FNV-1a, 128 bits, of the text's UTF-8 bytes, as 32 hex digits. In four numbers of 32 bits, the lowest first: bigints
 * take ten times as long, and this is done with each manifest as a whole.
 */
function fnv128(text: string): string {
  let [a, b, c, d] = [0x6295c58d, 0x62b82175, 0x07bb0142, 0x6c62272e];
  for (const byte of Buffer.from(text)) {
    a = (a ^ byte) >>> 0;
    const [low, high] = [a << 24, (a >>> 8) | (b << 24)];
    // No product has more than 41 bits: numbers hold them exactly.
    a *= FNV_128_LOW;
    b = b * FNV_128_LOW + Math.floor(a / 2 ** 32);
    c = c * FNV_128_LOW + Math.floor(b / 2 ** 32) + (low >>> 0);
    d = d * FNV_128_LOW + Math.floor(c / 2 ** 32) + (high >>> 0);
    [a, b, c, d] = [a >>> 0, b >>> 0, c >>> 0, d >>> 0];
  }
  return [d, c, b, a].map((part) => part.toString(16).padStart(8, '0')).join('');
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
export function hashContainer(container: Pick<Container, 'name' | 'image'>): string {
  const json = goJson({image: container.image, name: container.name});
  return fnv32(`([]uint8)[${Buffer.from(json).join(' ')}]`).toString(16);
}

function sortKeys(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(byKey));
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
export function computeStaticPodUid(pod: Pod, origin: string): string {
  return fnv128(`${uidContent(pod)}${origin}`);
}

/**
 * The UID of a pod whose manifest has none: a UUID (version 8) made from namespace, name and content, so that the
 * same manifest is the same pod and a changed one is a new pod.
 */
export function computePodUid(pod: Pod): string {
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
