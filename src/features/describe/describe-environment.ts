import {quantityMilliValue, quantityValue} from '../../api/quantity.js';
import type {Container, EnvFromSource, EnvVar, EnvVarSource, Pod} from '../../api/types/v1-pod.js';
import type {ResourceFieldSelector} from '../../api/types/v1-selectors.js';
import {goQuote} from '../../format/go-quote.js';
import {indentLines, sortedEntries} from '../../cli/output/views/aligned-lines.js';

/** Describes the environment of a container as kubectl does: references by name, without their values. */
export function environmentLines(pod: Pod, container: Container): readonly string[] {
  const {env = [], envFrom = []} = container;
  return [
    ...(envFrom.length > 0
      ? ['Environment Variables from:', ...indentLines(1, envFrom.map(sourceLine))]
      : []),
    env.length === 0 ? 'Environment:\t<none>' : 'Environment:',
    ...indentLines(
      1,
      env.flatMap((variable) => variableLines(pod, container, variable)),
    ),
  ];
}

function sourceLine({prefix = '', configMapRef, secretRef}: EnvFromSource): string {
  const [kind, from] = configMapRef === undefined ? ['Secret', secretRef] : ['ConfigMap', configMapRef];
  const withPrefix = prefix === '' ? '' : ` with prefix '${prefix}'`;
  return `${from?.name ?? ''}\t${kind}${withPrefix}\tOptional: ${from?.optional === true}`;
}

function variableLines(
  pod: Pod,
  container: Container,
  {name, value = '', valueFrom}: EnvVar,
): readonly string[] {
  if (valueFrom !== undefined) return [`${name}:\t${referenceText(pod, container, valueFrom)}`];
  const [first = '', ...rest] = value.split('\n');
  return [`${name}:\t${first}`, ...rest.map((line) => `\t${line}`)];
}

function referenceText(pod: Pod, container: Container, from: EnvVarSource): string {
  const {fieldRef, resourceFieldRef} = from;
  if (fieldRef !== undefined)
    return `${fieldValue(pod, fieldRef.fieldPath)} (${fieldRef.apiVersion ?? 'v1'}:${fieldRef.fieldPath})`;
  if (resourceFieldRef !== undefined)
    return `${resourceValue(container, resourceFieldRef)} (${resourceFieldRef.resource})`;
  const key = from.secretKeyRef ?? from.configMapKeyRef ?? from.fileKeyRef;
  return `<set to the key '${key?.key ?? ''}' ${placeOfKey(from)}>\tOptional: ${key?.optional === true}`;
}

function placeOfKey({secretKeyRef, configMapKeyRef, fileKeyRef}: EnvVarSource): string {
  if (secretKeyRef !== undefined) return `in secret '${secretKeyRef.name ?? ''}'`;
  if (configMapKeyRef !== undefined) return `of config map '${configMapKeyRef.name ?? ''}'`;
  return `of the file '${fileKeyRef?.path ?? ''}' in the volume '${fileKeyRef?.volumeName ?? ''}'`;
}

/** Resolves metadata fields as kubectl does; fields that only the node knows are empty. */
function fieldValue({metadata}: Pod, path: string): string {
  const [, map, key] = /^metadata\.(labels|annotations)(?:\['([^']+)'\])?$/.exec(path) ?? [];
  if (map === 'labels' || map === 'annotations') {
    const texts = metadata[map] ?? {};
    if (key !== undefined) return texts[key] ?? '';
    return sortedEntries(texts)
      .map(([name, value]) => `${name}=${goQuote(value)}`)
      .join('\n');
  }
  const [, field] = /^metadata\.(name|namespace|uid)$/.exec(path) ?? [];
  return metadata[(field ?? '') as 'name' | 'namespace' | 'uid'] ?? '';
}

function resourceValue({resources}: Container, {resource, divisor = '0'}: ResourceFieldSelector): string {
  const [kind = '', name = ''] = resource.split('.');
  const amount = resources?.[kind as 'limits' | 'requests']?.[name];
  if (amount === undefined) return /^limits\.(cpu|memory)$/.test(resource) ? 'node allocatable' : '0';
  const measure = name === 'cpu' ? quantityMilliValue : quantityValue;
  const unit = measure(divisor) > 0n ? measure(divisor) : measure('1');
  return String((measure(amount) + unit - 1n) / unit);
}
