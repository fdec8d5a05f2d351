import type {Container, EnvVar, Pod} from '../../api/v1.js';
import type {NodeFacts} from '../container/node.js';
import {ContainerConfigError} from './config-errors.js';
import {expand} from './expansion.js';
import {fieldRefValue} from './field-ref.js';
import {resourceFieldRefValue} from './resource-field-ref.js';

/** What a container's environment is made from. */
export interface EnvContext {
  readonly pod: Pod;
  readonly container: Container;
  readonly podIps: readonly string[];
  readonly node: NodeFacts;
}

/**
 * The container's environment by name (Kubelet.makeEnvironmentVariables): in the Pod's order, each variable seeing
 * those before it; a name that comes again replaces the first. There are no services here, hence no variables of
 * theirs.
 *
 * @throws ContainerConfigError for a reference that can't be resolved.
 */
export function environment(context: EnvContext): ReadonlyMap<string, string> {
  const variables = new Map<string, string>();
  for (const variable of context.container.env ?? [])
    variables.set(variable.name, valueOf(variable, variables, context));
  return variables;
}

/** An empty literal gives way to a source. */
function valueOf(
  {name, value = '', valueFrom}: EnvVar,
  earlier: ReadonlyMap<string, string>,
  context: EnvContext,
): string {
  if (value !== '' || valueFrom === undefined) return expand(value, earlier);
  const {fieldRef, resourceFieldRef} = valueFrom;
  if (fieldRef !== undefined) return fieldRefValue(fieldRef.fieldPath, context);
  if (resourceFieldRef !== undefined) return resourceFieldRefValue(resourceFieldRef, context);
  throw new ContainerConfigError(`the source of the environment variable "${name}" is not supported`);
}
