import {createHash} from 'node:crypto';
import {byKey} from '../base/compare.js';
import type {Container, Pod} from './types/v1-pod.js';

/** Returns the 32-bit FNV-1a hash of the UTF-8 bytes of a text. */
export function fnv32(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}

/** Low part of the 128-bit FNV prime, which is 2^88 plus this number. */
const FNV_128_LOW = 0x13b;
const LOW_16 = 0xffff;

/**
 * Returns the 128-bit FNV-1a hash of the UTF-8 bytes of a text, as 32 hex digits. Computes with eight 16-bit numbers, lowest
 * first, whose products have 25 bits: interpreted code, such as that of the first pods, allocates memory for numbers of more than 31
 * bits, and takes several times as long with bigints or arrays.
 */
export function fnv128(text: string): string {
  let [a, b, c, d] = [0xc58d, 0x6295, 0x2175, 0x62b8];
  let [e, f, g, h] = [0x0142, 0x07bb, 0x272e, 0x6c62];
  const bytes = Buffer.from(text);
  // oxlint-disable-next-line typescript/prefer-for-of -- it calls a function for each byte in interpreted code
  for (let index = 0; index < bytes.length; index += 1) {
    a ^= bytes[index] ?? 0;
    // The prime is 2^88 + FNV_128_LOW: these are the numbers shifted by 88 bits.
    const shifted5 = (a << 8) & LOW_16;
    const shifted6 = ((b << 8) | (a >> 8)) & LOW_16;
    const shifted7 = ((c << 8) | (b >> 8)) & LOW_16;
    a *= FNV_128_LOW;
    b = b * FNV_128_LOW + (a >> 16);
    c = c * FNV_128_LOW + (b >> 16);
    d = d * FNV_128_LOW + (c >> 16);
    e = e * FNV_128_LOW + (d >> 16);
    f = f * FNV_128_LOW + (e >> 16) + shifted5;
    g = g * FNV_128_LOW + (f >> 16) + shifted6;
    h = (h * FNV_128_LOW + (g >> 16) + shifted7) & LOW_16;
    a &= LOW_16;
    b &= LOW_16;
    c &= LOW_16;
    d &= LOW_16;
    e &= LOW_16;
    f &= LOW_16;
    g &= LOW_16;
  }
  return [h, g, f, e, d, c, b, a].map((part) => part.toString(16).padStart(4, '0')).join('');
}

/** Characters that Go escapes in JSON although JSON does not require it. */
export function goJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/**
 * Returns the kubelet's hash of a container, in lower-case hex without padding. It covers only name and image, so that
 * no other change of the manifest restarts the container in place (kubecontainer.HashContainer).
 */
export function hashContainer(container: Pick<Container, 'name' | 'image'>): string {
  const json = goJson({image: container.image, name: container.name});
  return fnv32(`([]uint8)[${Buffer.from(json).join(' ')}]`).toString(16);
}

function sortKeys(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(byKey));
}

/**
 * Returns JSON with sorted keys. Equal objects give equal texts, regardless of the order, format and comments of the
 * manifest.
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, sortKeys);
}

/** Returns the content of a pod that determines its UID: everything except the UID and the status. */
function uidContent(pod: Pod): string {
  const metadata = {...pod.metadata, uid: undefined};
  return canonicalJson({...pod, metadata, status: undefined});
}

/** Returns a UUID (version 8) computed from the SHA-256 digest of a text. */
export function computeUuid(text: string): string {
  const digest = createHash('sha256').update(text).digest();
  digest.writeUInt8((digest.readUInt8(6) & 0x0f) | 0x80, 6);
  digest.writeUInt8((digest.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = digest.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join(
    '-',
  );
}

/**
 * Returns the UID of a pod whose manifest has none: a UUID (version 8) computed from namespace, name, content and the root
 * directory that has the pod's state. The same manifest is the same pod, and a changed manifest is a new pod. Pods of
 * another root directory have other UIDs, and thus log directories and cgroups of their own.
 */
export function computePodUid(pod: Pod, rootDir: string): string {
  const {namespace = '', name = ''} = pod.metadata;
  return computeUuid(`${namespace}/${name}\n${rootDir}\n${uidContent(pod)}`);
}
