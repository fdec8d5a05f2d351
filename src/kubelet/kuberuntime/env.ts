import type {Container, EnvFromSource, EnvVar, EnvVarSource, Pod} from '../../api/v1.js';
import {bytesToText} from '../../base/byte-text.js';
import {objectNotFound, type ApiObjects} from '../container/api-objects.js';
import type {NodeFacts} from '../container/node.js';
import {podRef} from '../container/pod-ref.js';
import {ContainerConfigError} from './config-errors.js';
import {fileKeyValue, type EnvFiles} from './env-files.js';
import {expand} from '../../api/expansion.js';
import {fieldRefValue} from './field-ref.js';
import {resourceFieldRefValue} from './resource-field-ref.js';

/** What a container's environment is made from. */
export interface EnvContext {
  readonly pod: Pod;
  readonly container: Container;
  /** As the sandbox has them; none for a pod that has none of its own. */
  readonly podIps: readonly string[];
  readonly node: NodeFacts;
  readonly objects: ApiObjects;
  readonly envFiles: EnvFiles;
}

type Values = ReadonlyMap<string, string>;

/**
 * The container's environment by name (Kubelet.makeEnvironmentVariables): first envFrom, of which later ones win, then
 * env in the Pod's order, each variable seeing those before it; a name that comes again replaces the first. There are
 * no services here, hence no variables of theirs. Values that are not UTF-8 are as bytesToText has them.
 *
 * @throws ContainerConfigError or ObjectNotFoundError for a reference that can't be resolved.
 */
export function environment(context: EnvContext): Values {
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

/** An empty literal gives way to a source; undefined when an optional source has nothing. */
function valueOf(
  {name, value = '', valueFrom}: EnvVar,
  earlier: Values,
  context: EnvContext,
): string | undefined {
  return value !== '' || valueFrom === undefined
    ? expand(value, earlier)
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
  if (fileKeyRef !== undefined) return fileKeyValue(fileKeyRef, context.envFiles);
  throw new ContainerConfigError(`the source of the environment variable "${name}" is not supported`);
}

interface Reference {
  readonly name?: string;
  readonly optional?: boolean;
}

/** What of a ConfigMap can be in an environment: texts only. Undefined for an optional one that isn't there. */
function configMapValues({name = '', optional = false}: Reference, context: EnvContext): Values | undefined {
  const {namespace} = podRef(context.pod);
  const found = context.objects.configMap(namespace, name);
  if (found !== undefined) return new Map(Object.entries(found.data ?? {}));
  if (optional) return undefined;
  throw objectNotFound(context.objects, 'ConfigMap', name, namespace);
}

function secretValues({name = '', optional = false}: Reference, context: EnvContext): Values | undefined {
  const {namespace} = podRef(context.pod);
  const found = context.objects.secret(namespace, name);
  if (found !== undefined)
    return new Map(Object.entries(found.data ?? {}).map(([key, value]) => [key, bytesToText(value)]));
  if (optional) return undefined;
  throw objectNotFound(context.objects, 'Secret', name, namespace);
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
