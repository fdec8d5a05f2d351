import type {Container, Pod} from '../../api/v1.js';
import type {ApiObject} from '../../api/v1-objects.js';
import {bytesToText} from '../../base/byte-text.js';
import {TextMask} from '../../format/hidden-texts.js';
import type {ApiObjects} from '../container/api-objects.js';
import {podRef} from '../container/pod-ref.js';
import type {SyncResult} from '../container/sync-result.js';
import {RecentTexts} from './recent-texts.js';

/** A Secret's values, which nobody is to be shown; none for another object. */
export function secretTexts(object: ApiObject): readonly string[] {
  return object.kind === 'Secret' ? Object.values(object.data ?? {}).map(bytesToText) : [];
}

/** The values of the Secrets that the variables of a pod's containers come from. */
export function podSecretTexts(pod: Pod, objects: ApiObjects): readonly string[] {
  const {initContainers = [], containers} = pod.spec;
  const {namespace} = podRef(pod);
  return [...initContainers, ...containers].flatMap((container) =>
    containerSecretTexts(container, namespace, objects),
  );
}

/** The values of the Secrets that a container's variables come from. */
export function containerSecretTexts(
  {env = [], envFrom = []}: Container,
  namespace: string,
  objects: ApiObjects,
): readonly string[] {
  const names = [
    ...envFrom.map(({secretRef}) => secretRef?.name),
    ...env.map(({valueFrom}) => valueFrom?.secretKeyRef?.name),
  ];
  return names.flatMap((name) => {
    const secret = name === undefined ? undefined : objects.secret(namespace, name);
    return secret === undefined ? [] : secretTexts(secret);
  });
}

/** An instance that runs, and those of before it that a runtime may still tell of. */
const STARTS_KEPT = 4;

/**
 * The texts of one pod that nobody is to be shown, taken out of all that is told of it: the values that it refers to,
 * some that they had before, and what each container was started with last, however long ago.
 */
export class SecretTexts {
  readonly #referred = new RecentTexts();
  /** By container, of the last start first. */
  readonly #started = new Map<string, readonly (readonly string[])[]>();
  #all: ReadonlySet<string> = new Set();
  #mask = new TextMask();
  readonly #changed: (texts: readonly string[]) => void;

  /** `changed` is called with all texts when they are others than before. */
  constructor(changed: (texts: readonly string[]) => void = () => undefined) {
    this.#changed = changed;
  }

  /** The values that the pod refers to now. */
  refer(texts: readonly string[]): void {
    this.#referred.set(texts);
    this.#renew();
  }

  /** What a container is being started with. */
  start(container: string, texts: readonly string[]): void {
    const before = this.#started.get(container) ?? [];
    const isSame = JSON.stringify(before[0]) === JSON.stringify(texts);
    if (!isSame) this.#started.set(container, [texts, ...before].slice(0, STARTS_KEPT));
    this.#renew();
  }

  #renew(): void {
    const all = new Set([...this.#referred.all(), ...[...this.#started.values()].flat(2)]);
    if (all.size === this.#all.size && [...all].every((text) => this.#all.has(text))) return;
    this.#all = all;
    this.#mask = new TextMask();
    this.#mask.add(all);
    this.#changed([...all]);
  }

  /** The message without them. */
  mask(message: string): string {
    return this.#mask.mask(message);
  }

  /** The results, and why what of them failed, without them. */
  maskResults(results: readonly SyncResult[]): readonly SyncResult[] {
    return results.map((result) => {
      const {failure} = result;
      if (failure === undefined) return result;
      return {...result, failure: {...failure, message: this.mask(failure.message)}};
    });
  }
}
