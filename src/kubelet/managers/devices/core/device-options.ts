import type {ContainerOptions} from '../../../contract/node-manager.js';
import type {ContainerAllocateResponse} from '../../../../plugin-api/gen/device-plugin/types.js';

/** Two plugins that want something different for one name of a container; the first one gets its way. */
export interface OptionConflict {
  /** Kind of the name, such as `environment variable`. */
  readonly what: string;
  readonly name: string;
  readonly kept: string;
  readonly dropped: string;
}

/** Options for a container from the answers of the plugins of its resources, and their conflicts (deviceRunContainerOptions). */
export function mergeDeviceOptions(answers: readonly ContainerAllocateResponse[]): {
  readonly options: ContainerOptions;
  readonly conflicts: readonly OptionConflict[];
} {
  const conflicts: OptionConflict[] = [];
  const merge = <T>(
    what: string,
    items: readonly T[],
    keyOf: (item: T) => string,
    valueOf: (item: T) => string,
  ) => {
    const kept = new Map<string, T>();
    for (const item of items) {
      const name = keyOf(item);
      const first = kept.get(name);
      if (first === undefined) kept.set(name, item);
      else if (valueOf(first) !== valueOf(item))
        conflicts.push({what, name, kept: valueOf(first), dropped: valueOf(item)});
    }
    return [...kept.values()];
  };
  const pairs = (what: string, maps: readonly Readonly<Record<string, string>>[]) =>
    Object.fromEntries(
      merge(
        what,
        maps.flatMap((map) => Object.entries(map)),
        ([name]) => name,
        ([, value]) => value,
      ),
    );
  const pathOf = ({containerPath}: {readonly containerPath: string}): string => containerPath;
  const hostOf = ({hostPath}: {readonly hostPath: string}): string => hostPath;
  const devices = answers.flatMap((answer) => answer.devices);
  const mounts = answers.flatMap((answer) => answer.mounts);
  const cdiDevices = answers.flatMap((answer) => answer.cdiDevices);
  return {
    options: {
      environment: pairs(
        'environment variable',
        answers.map(({envs}) => envs),
      ),
      annotations: pairs(
        'annotation',
        answers.map(({annotations}) => annotations),
      ),
      devices: merge('device', devices, pathOf, hostOf),
      mounts: merge('mount', mounts, pathOf, hostOf).map(({readOnly: readonly, ...paths}) => ({
        ...paths,
        readonly,
      })),
      cdiDevices: merge(
        'CDI device',
        cdiDevices,
        ({name}) => name,
        ({name}) => name,
      ),
    },
    conflicts,
  };
}
