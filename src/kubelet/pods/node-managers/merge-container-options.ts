import {isDeepStrictEqual} from 'node:util';
import type {ContainerOptions, ContainerResources} from '../../contract/node-manager.js';
import {ContainerConfigError} from '../../managers/kuberuntime/config/config-errors.js';
import {replaceResources} from '../../resources/partial-resources.js';

/** Options from one manager for a container. */
export interface GivenOptions {
  readonly manager: string;
  readonly options: ContainerOptions;
}

/**
 * Merges the options from all managers for a container.
 *
 * @throws ContainerConfigError, which names both, if two managers give different values for the same thing.
 */
export function mergeContainerOptions(container: string, given: readonly GivenOptions[]): ContainerOptions {
  rejectConflicts(container, given);
  const all = given.map(({options}) => options);
  return {
    resources: all.reduce<ContainerResources>(
      (merged, {resources = {}}) => replaceResources(merged, resources),
      {},
    ),
    devices: all.flatMap(({devices = []}) => devices),
    mounts: all.flatMap(({mounts = []}) => mounts),
    environment: Object.assign({}, ...all.map(({environment}) => environment)) as Record<string, string>,
    annotations: Object.assign({}, ...all.map(({annotations}) => annotations)) as Record<string, string>,
    cdiDevices: all.flatMap(({cdiDevices = []}) => cdiDevices),
  };
}

function rejectConflicts(container: string, given: readonly GivenOptions[]): void {
  const owners = new Map<string, {readonly manager: string; readonly value: unknown}>();
  for (const {manager, options} of given)
    for (const [what, value] of listClaims(options)) {
      const owner = owners.get(what);
      owners.set(what, {manager, value});
      if (owner !== undefined && !isDeepStrictEqual(owner.value, value))
        throw new ContainerConfigError(
          `the ${owner.manager} manager and the ${manager} manager of the node both set ${what} of container "${container}"`,
          {hint: 'change the configuration of one of the two managers'},
        );
    }
}

type Claim = readonly [what: string, value: unknown];

/** Returns everything that only one manager can decide, each with its value. */
function listClaims({
  resources,
  devices,
  mounts,
  environment,
  annotations,
}: ContainerOptions): readonly Claim[] {
  const {unified, ...fields} = resources ?? {};
  return [
    ...claimNames('resource', fields),
    ...claimNames('cgroup file', unified),
    ...claimPaths('device', devices),
    ...claimPaths('mount', mounts),
    ...claimNames('variable', environment),
    ...claimNames('annotation', annotations),
  ];
}

function claimNames(kind: string, values: object = {}): readonly Claim[] {
  return Object.entries(values).map(([name, value]) => [`${kind} ${name}`, value]);
}

function claimPaths(
  kind: string,
  items: readonly {readonly containerPath?: string | undefined}[] = [],
): readonly Claim[] {
  return items.map((item) => [`${kind} ${item.containerPath ?? ''}`, item]);
}
