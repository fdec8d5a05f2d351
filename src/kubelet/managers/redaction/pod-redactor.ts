import {allContainersOf} from '../../../api/pod-containers.js';
import type {Container, EnvVar, Pod} from '../../../api/types/v1-pod.js';
import type {ApiObject} from '../../../api/types/v1-objects.js';
import {bytesToText} from '../../../base/byte-text.js';
import {MASK, SecretRedactor} from '../../../format/secret-redactor.js';
import type {ApiObjects} from '../../contract/api-objects.js';
import {podRef} from '../../contract/pod-ref.js';
import type {SyncResult} from '../../contract/sync-result.js';
import {RecentValues} from './recent-values.js';

/** Returns the values of a Secret; none for other objects. */
export function secretValuesOf(object: ApiObject): readonly string[] {
  return object.kind === 'Secret' ? Object.values(object.data ?? {}).map(bytesToText) : [];
}

/** Reports whether a variable comes from a Secret, or from a file in which another container may have stored a secret. */
export function comesFromSecret({valueFrom}: EnvVar): boolean {
  return valueFrom?.secretKeyRef !== undefined || valueFrom?.fileKeyRef !== undefined;
}

/** Reports whether the environment of a container may have secret values. */
export function hasSecretValues({env = [], envFrom = []}: Container): boolean {
  return envFrom.some(({secretRef}) => secretRef !== undefined) || env.some(comesFromSecret);
}

/** Returns the values of all Secrets that the environment of a pod's containers refers to. */
export function podSecretValuesOf(pod: Pod, objects: ApiObjects): readonly string[] {
  const {namespace} = podRef(pod);
  return allContainersOf(pod).flatMap((container) => containerSecretValuesOf(container, namespace, objects));
}

/** Returns the values of all Secrets that the environment of a container refers to. */
export function containerSecretValuesOf(
  {env = [], envFrom = []}: Container,
  namespace: string,
  objects: ApiObjects,
): readonly string[] {
  const names = [
    ...envFrom.map(({secretRef}) => secretRef?.name),
    ...env.map(({valueFrom}) => valueFrom?.secretKeyRef?.name),
  ];
  return [...new Set(names)].flatMap((name) => {
    const secret = name === undefined ? undefined : objects.secret(namespace, name);
    return secret === undefined ? [] : secretValuesOf(secret);
  });
}

/**
 * Number of starts per container whose values are redacted: the running instance and earlier ones that the runtime may
 * report.
 */
const MAX_STARTS = 4;

/**
 * Masks the secret values of one pod in messages about it: those that it refers to now, some earlier ones, and those
 * that each container was last started with.
 */
export class PodRedactor {
  readonly #referenced = new RecentValues();
  /** Values by container, of the last start first. */
  readonly #started = new Map<string, readonly (readonly string[])[]>();
  #all: ReadonlySet<string> = new Set();
  #redactor = new SecretRedactor();
  readonly #changed: (texts: readonly string[]) => void;

  /** `changed` is called with all values when they have changed. */
  constructor(changed: (texts: readonly string[]) => void = () => undefined) {
    this.#changed = changed;
  }

  /** Sets the values that the pod currently refers to. */
  setReferencedValues(texts: readonly string[]): void {
    this.#referenced.set(texts);
    this.#rebuild();
  }

  /** Adds the values that a container starts with. */
  addStartedValues(container: string, texts: readonly string[]): void {
    const before = this.#started.get(container) ?? [];
    if (JSON.stringify(before[0]) === JSON.stringify(texts)) return;
    this.#started.set(container, [texts, ...before].slice(0, MAX_STARTS));
    const isDropping = before.length === MAX_STARTS;
    if (isDropping || texts.some((text) => !this.#all.has(text))) this.#rebuild();
  }

  #rebuild(): void {
    const all = new Set([...this.#referenced.all(), ...[...this.#started.values()].flat(2)]);
    if (all.size === this.#all.size && [...all].every((text) => this.#all.has(text))) return;
    this.#all = all;
    this.#redactor = new SecretRedactor();
    this.#redactor.add(all);
    this.#changed([...all]);
  }

  /** Returns a message with all secret values masked. */
  mask(message: string): string {
    return this.#redactor.mask(message);
  }

  /**
   * Returns a message of the runtime about a container with all secret values masked. Masks the whole message if only
   * another process knows the secret values that the container was started with.
   */
  maskContainerMessage(container: Container | undefined, message: string): string {
    const isKnown =
      container === undefined || !hasSecretValues(container) || this.#started.has(container.name);
    return isKnown || message === '' ? this.mask(message) : MASK;
  }

  /** Returns the results with all secret values in failure messages masked. */
  maskResults(results: readonly SyncResult[]): readonly SyncResult[] {
    return results.map((result) => {
      const {failure} = result;
      if (failure === undefined) return result;
      return {...result, failure: {...failure, message: this.mask(failure.message)}};
    });
  }
}
