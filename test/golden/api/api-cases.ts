import {readdirSync, readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {dirname, join} from 'node:path';

/** Independent of where this file was compiled to. */
const CASES = join(
  dirname(createRequire(import.meta.url).resolve('kcri/package.json')),
  'test/golden/api/cases',
);

/** An object of a manifest, as JSON. */
export interface ManifestObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {readonly name: string; readonly [field: string]: unknown};
  readonly [field: string]: unknown;
}

/** An external action: time in seconds after the objects were created, or `+S` after the last action, verb and arguments. */
export type ApiAction = readonly [at: number | string, verb: string, ...args: readonly unknown[]];

/** A write of the kubelet about a pod: method, path, code, body, how often. */
export type CanonicalWrite = readonly [string, string, string, unknown, number];

/** Values of one aspect of a pod's status, in the order in which the API server had them. */
export type Tracks = Readonly<Record<string, readonly unknown[]>>;

/** An event: object, type, reason, message, reporter, count. */
export type CanonicalApiEvent = readonly unknown[];

/** What a kubelet did, in canonical form. */
export interface CanonicalRun {
  readonly pods: Readonly<
    Record<string, {readonly writes: readonly CanonicalWrite[]; readonly tracks: Tracks}>
  >;
  readonly events: readonly CanonicalApiEvent[];
}

/** A case recorded from a kubelet that had joined a cluster. */
export interface ApiCase extends CanonicalRun {
  readonly run: {
    readonly settle?: number;
    readonly actions?: readonly ApiAction[];
    /** Actions before the kubelet starts. */
    readonly before?: readonly (readonly [verb: string, ...args: readonly unknown[]])[];
  };
  readonly objects: readonly ManifestObject[];
  readonly files?: Readonly<Record<string, readonly ManifestObject[]>>;
  /** Units in which two recordings differed. */
  readonly unstable?: readonly string[];
}

/** Names of all cases. */
export const API_CASES: readonly string[] = readdirSync(CASES)
  .map((file) => file.replace(/\.json$/, ''))
  .sort();

/** Reads a case, with a directory of files on the node, a registry and the node's name in place of placeholders. */
export function readApiCase(name: string, places: Readonly<Record<string, string>>): ApiCase {
  const text = readFileSync(join(CASES, `${name}.json`), 'utf8');
  const replaced = Object.entries(places).reduce(
    (current, [placeholder, value]) => current.replaceAll(placeholder, value),
    text,
  );
  return JSON.parse(replaced) as ApiCase;
}
