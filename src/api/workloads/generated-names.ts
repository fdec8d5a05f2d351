import {createHash} from 'node:crypto';
import {canonicalJson, computeUuid, fnv32} from '../container-hash.js';
import type {ObjectMeta} from '../types/v1-meta.js';

/** Characters of generated names: no vowels and no similar digits, so that no words arise (rand.alphanums). */
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';
const SUFFIX_LENGTH = 5;
/** Maximum length of a generated name's prefix, including its hyphen (names.MaxGeneratedNameLength). */
const MAX_PREFIX_LENGTH = 63 - SUFFIX_LENGTH;

function encode(codes: Iterable<number>): string {
  return [...codes].map((code) => ALPHABET[code % ALPHABET.length]).join('');
}

/**
 * Returns the hash of a pod template for names and labels: the 32-bit FNV-1a hash in decimal digits, spelled in the
 * alphabet of generated names (ComputeHash, rand.SafeEncodeString). The value differs from Kubernetes', which hashes a
 * Go memory dump.
 */
export function hashTemplate(template: object): string {
  return encode(Buffer.from(String(fnv32(canonicalJson(template)))));
}

/**
 * Returns a generated name: the prefix, shortened if necessary, and five characters. An API server draws them at
 * random; here they are computed from `seed`, so that the same manifest gives the same names.
 */
export function generateName(prefix: string, seed: string): string {
  const digest = createHash('sha256').update(`${prefix}\n${seed}`).digest();
  return `${prefix.slice(0, MAX_PREFIX_LENGTH)}${encode(digest.subarray(0, SUFFIX_LENGTH))}`;
}

/** Returns the prefix `NAME-INDEX-` of the pods of an Indexed Job, of which only NAME is shortened. */
export function indexedPrefix(name: string, index: number): string {
  const end = `-${index}-`;
  return `${name.slice(0, MAX_PREFIX_LENGTH - end.length)}${end}`;
}

/** Returns the UID of an object: that of its manifest, or else one computed from kind, namespace and name. */
export function uidOf(kind: string, {uid = '', namespace = '', name = ''}: ObjectMeta): string {
  return uid === '' ? computeUuid(`${kind}/${namespace}/${name}`) : uid;
}

/**
 * Returns an object that has only a generateName with a name computed from its content, so that the same manifest is
 * the same object.
 */
export function withGeneratedName<T extends {readonly metadata: ObjectMeta}>(object: T): T {
  const {name = '', generateName: prefix = ''} = object.metadata;
  // An invalid prefix is reported as such.
  if (name !== '' || !/^[a-z0-9][-a-z0-9.]*$/.test(prefix)) return object;
  return {...object, metadata: {...object.metadata, name: generateName(prefix, canonicalJson(object))}};
}
