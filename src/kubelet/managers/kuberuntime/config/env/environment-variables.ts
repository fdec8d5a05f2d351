import type {Container, EnvFromSource, EnvVar, EnvVarSource, Pod} from '../../../../../api/types/v1-pod.js';
import {bytesToText} from '../../../../../base/byte-text.js';
import {createObjectNotFoundError, type ApiObjects} from '../../../../contract/api-objects.js';
import type {NodeFacts} from '../../../../contract/node-facts.js';
import {podRef} from '../../../../contract/pod-ref.js';
import {ContainerConfigError} from '../config-errors.js';
import {fileKeyRefValue, type EnvFiles} from './env-files.js';
import {expandVariables} from '../../../../../api/expansion.js';
import {fieldRefValue} from './field-ref.js';
import {resourceFieldRefValue} from './resource-field-ref.js';

/** Input of makeEnvironmentVariables. */
export interface EnvContext {
  readonly pod: Pod;
  readonly container: Container;
  /** IP addresses of the pod (see computePodIps). */
  readonly podIps: readonly string[];
  readonly node: NodeFacts;
  readonly objects: ApiObjects;
  readonly envFiles: EnvFiles;
}

type Values = ReadonlyMap<string, string>;

/**
 * Returns the environment variables of a container by name (Kubelet.makeEnvironmentVariables): envFrom first, then env,
 * each in the order of the pod spec; later values replace earlier ones. A variable may refer to those before it. There
 * are no service variables, because there are no services. Values that are not UTF-8 are encoded by bytesToText.
 *
 * @throws ContainerConfigError or ObjectNotFoundError for a reference that cannot be resolved.
 */
export function makeEnvironmentVariables(context: EnvContext): Values {
  const variables = new Map<string, string>();
  for (const source of context.container.envFrom ?? [])
    for (const [key, value] of allValues(source, context))
      variables.set(`${source.prefix ?? ''}${key}`, value);
  for (const variable of context.container.env ?? []) {
    const value = valueOf(variable, variables, context);
    if (value !== undefined) variables.set(variable.name, value);
  }
  return variables;
}

function allValues({configMapRef, secretRef}: EnvFromSource, context: EnvContext): Values {
  if (configMapRef !== undefined) return configMapValues(configMapRef, context) ?? new Map();
  return (secretRef && secretValues(secretRef, context)) ?? new Map();
}

/**
 * Returns the value of a variable; undefined if an optional source is missing. An empty literal is ignored if there is
 * a source.
 */
function valueOf(
  {name, value = '', valueFrom}: EnvVar,
  earlier: Values,
  context: EnvContext,
): string | undefined {
  return value !== '' || valueFrom === undefined
    ? expandVariables(value, earlier)
    : sourceValue(name, valueFrom, context);
}

function sourceValue(name: string, source: EnvVarSource, context: EnvContext): string | undefined {
  const {fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef} = source;
  if (fieldRef !== undefined) return fieldRefValue(fieldRef.fieldPath, context);
  if (resourceFieldRef !== undefined) return resourceFieldRefValue(resourceFieldRef, context);
  if (configMapKeyRef !== undefined)
    return keyValue('ConfigMap', configMapKeyRef, configMapValues(configMapKeyRef, context), context);
  if (secretKeyRef !== undefined)
    return keyValue('Secret', secretKeyRef, secretValues(secretKeyRef, context), context);
  if (fileKeyRef !== undefined) return fileKeyRefValue(fileKeyRef, context.envFiles);
  throw new ContainerConfigError(`the source of the environment variable "${name}" is not supported`);
}

interface Reference {
  readonly name?: string;
  readonly optional?: boolean;
}

/** Returns the text values of a ConfigMap; undefined for an optional one that is missing. */
function configMapValues({name = '', optional = false}: Reference, context: EnvContext): Values | undefined {
  const {namespace} = podRef(context.pod);
  const found = context.objects.configMap(namespace, name);
  if (found !== undefined) return new Map(Object.entries(found.data ?? {}));
  if (optional) return undefined;
  throw createObjectNotFoundError(context.objects, 'ConfigMap', name, namespace);
}

function secretValues({name = '', optional = false}: Reference, context: EnvContext): Values | undefined {
  const {namespace} = podRef(context.pod);
  const found = context.objects.secret(namespace, name);
  if (found !== undefined)
    return new Map(Object.entries(found.data ?? {}).map(([key, value]) => [key, bytesToText(value)]));
  if (optional) return undefined;
  throw createObjectNotFoundError(context.objects, 'Secret', name, namespace);
}

function keyValue(
  kind: 'ConfigMap' | 'Secret',
  {name = '', key, optional = false}: Reference & {readonly key: string},
  values: Values | undefined,
  {pod}: EnvContext,
): string | undefined {
  const value = values?.get(key);
  if (value !== undefined || optional) return value;
  const {namespace} = podRef(pod);
  throw new ContainerConfigError(`couldn't find key ${key} in ${kind} ${namespace}/${name}`, {
    hint: `its keys are: ${[...(values?.keys() ?? [])].sort().join(', ') || 'none'}`,
  });
}
