import type {Container, EnvFromSource, EnvVar, EnvVarSource, Pod} from '../../../../../api/types/v1-pod.js';
import {bytesToText} from '../../../../../base/byte-text.js';
import {findConfigMap, findSecret, type ApiObjects} from '../../../../contract/api-objects.js';
import type {NodeFacts} from '../../../../contract/node-facts.js';
import {podRef} from '../../../../contract/pod-ref.js';
import {ContainerConfigError} from '../config-errors.js';
import {fileKeyRefValue, type EnvFiles} from './env-files.js';
import {expandVariables} from '../../../../../api/expansion.js';
import {goQuote} from '../../../../../format/go-quote.js';
import {ArgumentLimit} from './argument-limit.js';
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

type Variables = ReadonlyMap<string, string>;

/** Variables that another one may refer to. */
type Values = Pick<Variables, 'get'>;

const NO_VARIABLES: Variables = new Map();

/**
 * Returns the environment variables of a container by name (Kubelet.makeEnvironmentVariables): envFrom first, then env,
 * each in the order of the pod spec; later values replace earlier ones. A variable may refer to those before it, and to
 * those of Services, which the others precede. Values that are not UTF-8 are encoded by bytesToText.
 *
 * @throws ContainerConfigError for values that exceed the limits of a process, and ContainerConfigError or
 * ObjectNotFoundError for a reference that cannot be resolved.
 */
export function makeEnvironmentVariables(context: EnvContext): Variables {
  const services = context.objects.serviceVariables?.(context.pod) ?? NO_VARIABLES;
  const variables = new Map<string, string>();
  const known: Values = {
    get: (name: string) => variables.get(name) ?? services.get(name),
  };
  const {envFrom = [], env = [], name: container} = context.container;
  for (const source of envFrom)
    for (const [key, value] of allValues(source, context))
      variables.set(`${source.prefix ?? ''}${key}`, value);
  const limit = new ArgumentLimit(container);
  for (const variable of env) {
    const {name} = variable;
    const value = limit.expand(`environment variable ${goQuote(name)}`, () =>
      valueOf(variable, known, context),
    );
    if (value !== undefined) variables.set(name, value);
  }
  for (const [name, value] of services) if (!variables.has(name)) variables.set(name, value);
  return variables;
}

function allValues(
  {configMapRef, secretRef}: EnvFromSource,
  context: EnvContext,
): readonly (readonly [string, string])[] {
  if (configMapRef !== undefined) return Object.entries(configMapData(configMapRef, context) ?? {});
  const data = secretRef && secretData(secretRef, context);
  return Object.entries(data ?? {}).map(([key, value]) => [key, bytesToText(value)]);
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
    return keyValue('ConfigMap', configMapKeyRef, configMapData(configMapKeyRef, context), context);
  if (secretKeyRef !== undefined) {
    const value = keyValue('Secret', secretKeyRef, secretData(secretKeyRef, context), context);
    return value && bytesToText(value);
  }
  if (fileKeyRef !== undefined) return fileKeyRefValue(fileKeyRef, context.envFiles);
  throw new ContainerConfigError(`the source of the environment variable "${name}" is not supported`);
}

interface Reference {
  readonly name?: string;
  readonly optional?: boolean;
}

/** Returns the texts of a ConfigMap; undefined for an optional one that is missing. */
function configMapData(
  {name = '', optional = false}: Reference,
  context: EnvContext,
): Readonly<Record<string, string>> | undefined {
  const {namespace} = podRef(context.pod);
  const found = findConfigMap(context.objects, {namespace, name, optional});
  return found === undefined ? undefined : (found.data ?? {});
}

function secretData(
  {name = '', optional = false}: Reference,
  context: EnvContext,
): Readonly<Record<string, Uint8Array>> | undefined {
  const {namespace} = podRef(context.pod);
  const found = findSecret(context.objects, {namespace, name, optional});
  return found === undefined ? undefined : (found.data ?? {});
}

function keyValue<T>(
  kind: 'ConfigMap' | 'Secret',
  {name = '', key, optional = false}: Reference & {readonly key: string},
  values: Readonly<Record<string, T>> | undefined,
  {pod}: EnvContext,
): T | undefined {
  const value = values !== undefined && Object.hasOwn(values, key) ? values[key] : undefined;
  if (value !== undefined || optional) return value;
  const {namespace} = podRef(pod);
  throw new ContainerConfigError(`couldn't find key ${key} in ${kind} ${namespace}/${name}`, {
    hint: `its keys are: ${
      Object.keys(values ?? {})
        .sort()
        .join(', ') || 'none'
    }`,
  });
}
