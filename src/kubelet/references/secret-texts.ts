import type {Container} from '../../api/v1.js';
import type {ApiObject} from '../../api/v1-objects.js';
import {bytesToText} from '../../base/byte-text.js';
import {hiddenTexts} from '../../format/hidden-texts.js';
import type {ApiObjects} from '../container/api-objects.js';

/** Shorter values are in too many words. */
const SHORTEST = 4;
const MASK = '***';

/** A Secret's values, which nobody is to be shown; none for another object. */
export function secretTexts(object: ApiObject): readonly string[] {
  return object.kind === 'Secret' ? Object.values(object.data ?? {}).map(bytesToText) : [];
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

/** A message without such values, also where it quotes them or has a line of them only. */
export function withoutTexts(message: string, texts: readonly string[]): string {
  return texts
    .flatMap(hiddenTexts)
    .filter((text) => text.length >= SHORTEST)
    .sort((a, b) => b.length - a.length)
    .reduce((masked, text) => masked.replaceAll(text, MASK), message);
}
