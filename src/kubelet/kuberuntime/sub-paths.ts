import type {VolumeMount} from '../../api/v1.js';
import type {MountedVolumes, SubPathMount} from '../container/pod-filesystem.js';
import {ContainerConfigError} from './config-errors.js';
import {environment, type EnvContext} from './env.js';
import {expand} from '../../api/expansion.js';

/** What a container's parts of volumes are made from. */
export interface SubPathContext extends EnvContext {
  readonly volumes: MountedVolumes;
}

/**
 * The parts of volumes that the container mounts, to be mounted for it on the node; those of image volumes are the
 * runtime's business.
 *
 * @throws ContainerConfigError for a path that isn't below the volume's root or that lacks a variable.
 */
export function subPathMounts(context: SubPathContext): readonly SubPathMount[] {
  const {volumeMounts = []} = context.container;
  if (!volumeMounts.some(hasSubPath)) return [];
  const variables = environment(context);
  return volumeMounts.flatMap((mount, index) => {
    const {name, mountPropagation: propagation = 'None'} = mount;
    const path = subPath(mount, variables);
    const {hostPath: volumePath = ''} = context.volumes.get(name) ?? {};
    return path === '' || volumePath === '' ? [] : [{index, volumeName: name, volumePath, path, propagation}];
  });
}

function hasSubPath({subPath: path = '', subPathExpr = ''}: VolumeMount): boolean {
  return path !== '' || subPathExpr !== '';
}

/**
 * The part of its volume that a mount shows, empty for all of it (ExpandContainerVolumeMounts and makeMounts).
 *
 * @throws ContainerConfigError as subPathMounts does.
 */
export function subPath(
  {subPath: literal = '', subPathExpr = ''}: VolumeMount,
  variables: ReadonlyMap<string, string>,
): string {
  const path = subPathExpr === '' ? literal : expanded(subPathExpr, variables);
  if (path.startsWith('/'))
    throw new ContainerConfigError(`error SubPath \`${path}\` must not be an absolute path`);
  if (path.split('/').includes('..'))
    throw new ContainerConfigError(`unable to provision SubPath \`${path}\`: must not contain '..'`);
  return path;
}

/** In a path an empty variable is as wrong as none. */
function expanded(text: string, variables: ReadonlyMap<string, string>): string {
  const missing = new Set<string>();
  const path = expand(text, {
    get: (name) => {
      const value = variables.get(name) ?? '';
      if (value === '') missing.add(name);
      return value;
    },
  });
  if (missing.size > 0) throw new ContainerConfigError(`missing value for ${[...missing].sort().join(', ')}`);
  return path;
}
