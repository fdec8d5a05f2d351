import type {VolumeMount} from '../../../../api/types/v1-pod.js';
import type {MountedVolumes, SubPathMount} from '../../../contract/pod-filesystem.js';
import {ContainerConfigError} from './config-errors.js';
import {makeEnvironmentVariables, type EnvContext} from './env/environment-variables.js';
import {expandVariables, ExpansionError} from '../../../../api/expansion.js';
import {goQuote} from '../../../../format/go-quote.js';

/** Input of computeSubPathMounts. */
export interface SubPathContext extends EnvContext {
  readonly volumes: MountedVolumes;
}

/**
 * Returns the sub-paths of volumes to bind-mount on the node for a container. Sub-paths of image volumes are omitted,
 * because the runtime mounts them.
 *
 * @throws ContainerConfigError for a path outside the volume or with an undefined variable.
 */
export function computeSubPathMounts(context: SubPathContext): readonly SubPathMount[] {
  const {volumeMounts = []} = context.container;
  if (!volumeMounts.some(hasSubPath)) return [];
  const variables = makeEnvironmentVariables(context);
  return volumeMounts.flatMap((mount, index) => {
    const {name, mountPropagation: propagation = 'None'} = mount;
    const path = expandSubPath(mount, variables);
    const {hostPath: volumePath = ''} = context.volumes.get(name) ?? {};
    return path === '' || volumePath === '' ? [] : [{index, volumeName: name, volumePath, path, propagation}];
  });
}

function hasSubPath({subPath: path = '', subPathExpr = ''}: VolumeMount): boolean {
  return path !== '' || subPathExpr !== '';
}

/**
 * Returns the sub-path of a volume mount with variables expanded; empty without one (ExpandContainerVolumeMounts and
 * makeMounts).
 *
 * @throws ContainerConfigError like computeSubPathMounts.
 */
export function expandSubPath(
  {subPath: literal = '', subPathExpr = '', mountPath}: VolumeMount,
  variables: ReadonlyMap<string, string>,
): string {
  const path = subPathExpr === '' ? literal : expandNonEmpty(subPathExpr, mountPath, variables);
  if (path.startsWith('/'))
    throw new ContainerConfigError(`error SubPath \`${path}\` must not be an absolute path`);
  if (path.split('/').includes('..'))
    throw new ContainerConfigError(`unable to provision SubPath \`${path}\`: must not contain '..'`);
  return path;
}

/** Expands variables; throws ContainerConfigError if one is undefined or empty, or the result is too long. */
function expandNonEmpty(text: string, mountPath: string, variables: ReadonlyMap<string, string>): string {
  const missing = new Set<string>();
  const get = (name: string): string => {
    const value = variables.get(name) ?? '';
    if (value === '') missing.add(name);
    return value;
  };
  let path: string;
  try {
    path = expandVariables(text, {get});
  } catch (error) {
    if (!(error instanceof ExpansionError)) throw error;
    throw new ContainerConfigError(`subPathExpr of the mount at ${goQuote(mountPath)}: ${error.message}`);
  }
  if (missing.size > 0) throw new ContainerConfigError(`missing value for ${[...missing].sort().join(', ')}`);
  return path;
}
