import type {ConfigType} from './types.js';

/** What kcri does with a field of a KubeletConfiguration. There is no other way: nothing is dropped in silence. */
export type FieldUse =
  | {readonly kind: 'honoured'}
  /** Without effect, as it is on a kubelet of its own without a cluster, or because it describes nothing here; why. */
  | {readonly kind: 'ignored'; readonly reason: string}
  /** A kubelet would heed it and kcri doesn't, which is told at its start; why. */
  | {readonly kind: 'not supported'; readonly reason: string};

/** A field of a KubeletConfiguration: its type, what holds without it, the kubelet's flag of the same meaning. */
export interface ConfigField<T = unknown, D = T | undefined> {
  readonly type: ConfigType<T>;
  readonly default: D;
  readonly use: FieldUse;
  readonly flag: string | undefined;
  /** What is wrong with a value of the right type, in the kubelet's words behind the field's name. */
  readonly check: ((value: T) => string | undefined) | undefined;
  /** A kubelet that runs takes up another value; every other field is read at its start only. */
  readonly live: boolean;
}

/** The value of a field: undefined only when there is no default. */
export type ValueOf<F> =
  F extends ConfigField<infer T, infer D> ? (undefined extends D ? T | undefined : T) : never;

interface Extras<T> {
  readonly flag?: string;
  readonly check?: (value: T) => string | undefined;
  readonly live?: boolean;
}

/** A field that kcri applies. */
export function honoured<T, D extends T | undefined>(
  type: ConfigType<T>,
  fallback: D,
  extras: Extras<T> = {},
): ConfigField<T, D> {
  const {flag, check, live = false} = extras;
  return {type, default: fallback, use: {kind: 'honoured'}, flag, check, live};
}

/** A field without effect, and why. */
export function ignored<T, D extends T | undefined>(
  reason: string,
  ...[type, fallback, extras]: Parameters<typeof honoured<T, D>>
): ConfigField<T, D> {
  return {...honoured(type, fallback, extras), use: {kind: 'ignored', reason}};
}

/** A field that kcri doesn't apply though a kubelet would, and why. */
export function unsupported<T, D extends T | undefined>(
  reason: string,
  ...[type, fallback, extras]: Parameters<typeof honoured<T, D>>
): ConfigField<T, D> {
  return {...honoured(type, fallback, extras), use: {kind: 'not supported', reason}};
}

/** Checks in the kubelet's words (validation.go ValidateKubeletConfiguration). */
export const notNegative = (value: number): string | undefined =>
  value < 0 ? `${value} must not be a negative number` : undefined;

/** A whole number between two, both included. */
export const between =
  (least: number, most: number) =>
  (value: number): string | undefined =>
    value < least || value > most ? `${value} must be between ${least} and ${most}, inclusive` : undefined;

/** One of a few words, which have a default. */
export const oneOf =
  (...words: readonly string[]) =>
  (value: string): string | undefined =>
    words.includes(value)
      ? undefined
      : `${JSON.stringify(value)} must be one of: ${words.map((word) => JSON.stringify(word)).join(', ')}`;
