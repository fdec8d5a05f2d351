import {createHash} from 'node:crypto';
import {byKey} from '../base/compare.js';
import type {Container, Pod} from './types/v1-pod.js';

/** Returns the 32-bit FNV-1a hash of the UTF-8 bytes of a text. */
export function fnv32(text: string): number {
  let hash = 0x811c9dc5;
  const bytes = Buffer.from(text);
  // oxlint-disable-next-line typescript/prefer-for-of -- it allocates memory for each byte in interpreted code
  for (let index = 0; index < bytes.length; index += 1)
    hash = Math.imul(hash ^ (bytes[index] ?? 0), 0x01000193);
  return hash >>> 0;
}

/** Low part of the 128-bit FNV prime, which is 2^88 plus this number. */
const FNV_128_LOW = 0x13b;
/** Bits of a part of a 128-bit number: 88 is a multiple of it, and 31 bits hold its product with FNV_128_LOW. */
const PART_BITS = 22;
const PART = 2 ** PART_BITS - 1;
const HIGHEST_PART = 2 ** (128 - 5 * PART_BITS) - 1;
const FNV_128_OFFSET = 0x6c62272e07bb014262b821756295c58dn;

/**
 * Returns the 128-bit FNV-1a hash of the UTF-8 bytes of a text, as 32 hex digits. Computes with six numbers, lowest
 * first, whose products have 31 bits: interpreted code, such as that of the first pods, allocates memory for longer ones, and
 * takes several times as long with bigints or arrays.
 */
export function fnv128(text: string): string {
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = partsOf(FNV_128_OFFSET);
  const bytes = Buffer.from(text);
  // oxlint-disable-next-line typescript/prefer-for-of -- it calls a function for each byte in interpreted code
  for (let index = 0; index < bytes.length; index += 1) {
    a ^= bytes[index] ?? 0;
    // Shifted by 88 bits, the lowest two parts are the highest two.
    const low = a;
    const next = b;
    a *= FNV_128_LOW;
    b = b * FNV_128_LOW + (a >> PART_BITS);
    c = c * FNV_128_LOW + (b >> PART_BITS);
    d = d * FNV_128_LOW + (c >> PART_BITS);
    e = e * FNV_128_LOW + (d >> PART_BITS) + low;
    f = (f * FNV_128_LOW + (e >> PART_BITS) + next) & HIGHEST_PART;
    a &= PART;
    b &= PART;
    c &= PART;
    d &= PART;
    e &= PART;
  }
  const hash = [f, e, d, c, b, a].reduce((high, part) => (high << BigInt(PART_BITS)) | BigInt(part), 0n);
  return hash.toString(16).padStart(32, '0');
}

/** Returns the parts of a 128-bit number, lowest first. */
function partsOf(value: bigint): readonly number[] {
  return Array.from({length: 6}, (_, index) =>
    Number(BigInt.asUintN(PART_BITS, value >> BigInt(index * PART_BITS))),
  );
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
