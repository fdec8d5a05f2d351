import type {Container, Pod} from '../../api/v1.js';
import type {ApiObject} from '../../api/v1-objects.js';
import {bytesToText} from '../../base/byte-text.js';
import {TextMask} from '../../format/hidden-texts.js';
import type {ApiObjects} from '../container/api-objects.js';
import {podRef} from '../container/pod-ref.js';
import type {SyncResult} from '../container/sync-result.js';

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

/** The texts of one pod that nobody is to be shown: learned while it is synced, and taken out of all that is told of it. */
export class SecretTexts {
  readonly #texts = new Set<string>();
  readonly #mask = new TextMask();
  readonly #learned: (texts: readonly string[]) => void;

  /** `learned` is called with texts that are new. */
  constructor(learned: (texts: readonly string[]) => void = () => undefined) {
    this.#learned = learned;
  }

  learn(texts: readonly string[]): void {
    const fresh = texts.filter((text) => !this.#texts.has(text));
    if (fresh.length === 0) return;
    for (const text of fresh) this.#texts.add(text);
    this.#mask.add(fresh);
    this.#learned(fresh);
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
