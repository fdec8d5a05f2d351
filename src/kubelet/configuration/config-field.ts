import {messageOf} from '../../base/errors.js';
import type {ConfigType} from './config-field-types.js';

/** Support of a field of KubeletConfiguration. No field is silently ignored. */
export type FieldUse =
  | {readonly kind: 'honored'}
  /** The field has no effect on a standalone kubelet, or on this implementation, for the reason. */
  | {readonly kind: 'ignored'; readonly reason: string}
  /** A kubelet honors the field but kcri does not, for the reason, which is logged at the start. */
  | {readonly kind: 'not supported'; readonly reason: string};

/** A field of KubeletConfiguration with its type, default and flag. */
export interface ConfigField<T = unknown, D = T | undefined> {
  readonly type: ConfigType<T>;
  readonly default: D;
  readonly use: FieldUse;
  /** Default and support with an API server, if they differ. */
  readonly inCluster: {readonly default: D; readonly use: FieldUse} | undefined;
  /** The kubelet's flag for the field, without dashes. */
  readonly flag: string | undefined;
  /** Validates a value; returns the kubelet's message, which follows the name of the field. */
  readonly check: ((value: T, joinsCluster: boolean) => string | undefined) | undefined;
  /** True if a reload applies the field; other fields need a restart. */
  readonly live: boolean;
  /** Path of the field that is the default if a file sets it. */
  readonly follows: string | undefined;
}

/** Type of a field's value; includes undefined only for fields without default. */
export type ValueOf<F> =
  F extends ConfigField<infer T, infer D> ? (undefined extends D ? T | undefined : T) : never;

const HONORED: FieldUse = {kind: 'honored'};

interface Extras<T> {
  readonly flag?: string;
  readonly check?: (value: T, joinsCluster: boolean) => string | undefined;
  readonly live?: boolean;
  readonly follows?: string;
}

/** Defines a field that kcri honors. */
export function honored<T, D extends T | undefined>(
  type: ConfigType<T>,
  fallback: D,
  extras: Extras<T> = {},
): ConfigField<T, D> {
  const {flag, check, live = false, follows} = extras;
  return {type, default: fallback, use: HONORED, inCluster: undefined, flag, check, live, follows};
}

/** Defines a field that has no effect, for the reason. */
export function ignored<T, D extends T | undefined>(
  reason: string,
  ...[type, fallback, extras]: Parameters<typeof honored<T, D>>
): ConfigField<T, D> {
  return {...honored(type, fallback, extras), use: {kind: 'ignored', reason}};
}

/** Defines a field that a kubelet honors but kcri does not, for the reason. */
export function unsupported<T, D extends T | undefined>(
  reason: string,
  ...[type, fallback, extras]: Parameters<typeof honored<T, D>>
): ConfigField<T, D> {
  return {...honored(type, fallback, extras), use: {kind: 'not supported', reason}};
}

/** Returns the field as it is with an API server: honored, with a default of its own. */
export function honoredInCluster<T, D extends T | undefined>(
  field: ConfigField<T, D>,
  fallback: D = field.default,
): ConfigField<T, D> {
  return {...field, inCluster: {default: fallback, use: HONORED}};
}

/** Returns the default and the support of a field. */
export function fieldIn(field: ConfigField, joinsCluster: boolean): Pick<ConfigField, 'default' | 'use'> {
  return (joinsCluster ? field.inCluster : undefined) ?? field;
}

/** Returns a check that reports the error of a parser. */
export const problemOf =
  <T>(parse: (value: T) => unknown) =>
  (value: T): string | undefined => {
    try {
      parse(value);
      return undefined;
    } catch (error) {
      return messageOf(error);
    }
  };

/** Checks that a number is not negative (validation.go ValidateKubeletConfiguration). */
export const notNegative = (value: number): string | undefined =>
  value < 0 ? `${value} must not be a negative number` : undefined;

/** Returns a check that a number is in a range, inclusive. */
export const between =
  (min: number, max: number) =>
  (value: number): string | undefined =>
    value < min || value > max ? `${value} must be between ${min} and ${max}, inclusive` : undefined;

/** Returns a check that a string is one of the allowed values. */
export const oneOf =
  (...allowed: readonly string[]) =>
  (value: string): string | undefined =>
    allowed.includes(value)
      ? undefined
      : `${JSON.stringify(value)} must be one of: ${allowed.map((each) => JSON.stringify(each)).join(', ')}`;
