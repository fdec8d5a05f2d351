import * as Flags from '@oclif/core/flags';
import {UsageError} from '../../base/errors.js';
import type {ContainerState, PodSandboxState} from '../../cri/index.js';
import type {ContainerQuery} from '../../operations/containers/list-containers.js';
import {limitFromFlags, parseNamePattern, parseLabels} from '../../operations/filters/list-filters.js';
import type {SandboxQuery} from '../../operations/pods/list-sandboxes.js';
import {integerFlag, listFlag, nonEmptyFlags, unlessEmpty, withChoices} from '../../cli/flags/flag-types.js';

const POD = {
  helpValue: 'POD',
  description: 'Select only containers of this pod, by ID, name, NAMESPACE/NAME or UID.',
};

/** Flag `--pod` without its letter, for commands that use `-p` for another flag. */
export const LONG_POD_FLAG = nonEmptyFlags({
  pod: Flags.string({...POD, description: `${POD.description} Can be repeated.`, multiple: true}),
});

/** Filters of `ps`, `inspect` and `exec`. */
export const CONTAINER_FILTERS = nonEmptyFlags({
  name: Flags.string({
    helpValue: 'REGEX',
    description: 'Select only containers whose name matches a regular expression.',
  }),
  pod: Flags.string({...POD, char: 'p'}),
  image: Flags.string({
    helpValue: 'IMAGE',
    description: 'Select only containers of this image, by ID or name, with any tag unless one is given.',
  }),
  label: listFlag({
    helpValue: 'KEY=VALUE',
    description: 'Select only containers with this label. Can be repeated.',
  }),
  latest: Flags.boolean({char: 'l', description: 'Select only the newest container, in any state.'}),
  last: integerFlag({
    char: 'n',
    helpValue: 'N',
    description: 'Select only the newest N containers, in any state; 0 for all.',
  }),
});

const CONTAINER_STATES: ReadonlyMap<string, ContainerState> = new Map([
  ['created', 'CONTAINER_CREATED'],
  ['running', 'CONTAINER_RUNNING'],
  ['exited', 'CONTAINER_EXITED'],
  ['unknown', 'CONTAINER_UNKNOWN'],
]);

/** Values of `--state` of the commands for containers. */
export const CONTAINER_STATE_CHOICES = [...CONTAINER_STATES.keys()];

/** Further filters of `ps` and `inspect`. */
export const CONTAINER_SCOPE_FLAGS = {
  ...nonEmptyFlags({
    namespace: Flags.string({
      helpValue: 'REGEX',
      description: 'Select only containers of pods whose namespace matches a regular expression.',
    }),
    state: withChoices(
      Flags.string({
        char: 's',
        helpValue: 'STATE',
        description: 'Select only containers in this state. [default: running]',
      }),
      CONTAINER_STATE_CHOICES,
    ),
  }),
  all: Flags.boolean({char: 'a', description: 'Include containers in all states.'}),
};

/** Filters of `pods` and `inspectp`. */
export const SANDBOX_FILTERS = nonEmptyFlags({
  name: Flags.string({
    helpValue: 'REGEX',
    description: 'Select only pods whose name matches a regular expression.',
  }),
  namespace: Flags.string({
    helpValue: 'REGEX',
    description: 'Select only pods whose namespace matches a regular expression.',
  }),
  state: withChoices(
    Flags.string({char: 's', description: 'Select only pods in this state.', helpValue: 'STATE'}),
    ['ready', 'notready'],
  ),
  label: listFlag({
    helpValue: 'KEY=VALUE',
    description: 'Select only pods with this label. Can be repeated.',
  }),
  latest: Flags.boolean({char: 'l', description: 'Select only the newest pod.'}),
  last: integerFlag({char: 'n', helpValue: 'N', description: 'Select only the newest N pods; 0 for all.'}),
});

/** Flag `--filter` of `images` and `inspecti`. */
export const IMAGE_FILTER_FLAG = nonEmptyFlags({
  filter: listFlag({
    char: 'f',
    helpValue: 'CONDITION',
    description:
      'Select only images that match: dangling=true|false, reference=REGEX, before=IMAGE or since=IMAGE. Can be repeated.',
  }),
});

/** Values of the container filters. */
export interface ContainerFilterValues {
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
  readonly pod?: string | undefined;
  readonly image?: string | undefined;
  readonly state?: string | undefined;
  readonly label?: readonly string[] | undefined;
  readonly all?: boolean;
  readonly latest?: boolean;
  readonly last?: number | undefined;
}

const SANDBOX_STATES: ReadonlyMap<string, PodSandboxState> = new Map([
  ['ready', 'SANDBOX_READY'],
  ['notready', 'SANDBOX_NOTREADY'],
]);

/** Reports whether any filter is given; `--all` is not a filter. */
export function isFiltered(flags: ContainerFilterValues): boolean {
  const {id, name, namespace, pod, image, state, label, latest, last} = flags;
  return (
    latest === true ||
    [id, name, namespace, pod, image, state, label, last].some((value) => value !== undefined)
  );
}

/** Returns the given filters as on the command line, such as `--label app=web --name ^w`. */
export function filterText(flags: object): string {
  const given = Object.entries(flags).filter(([name]) => FILTER_NAMES.has(name));
  return given
    .flatMap(([name, value]: readonly [string, unknown]) =>
      [value].flat().flatMap((one) => (one === undefined || one === false ? [] : filterOption(name, one))),
    )
    .join(' ');
}

function filterOption(name: string, value: unknown): string {
  return value === true ? `--${name}` : `--${name} ${String(value)}`;
}

const FILTER_NAMES: ReadonlySet<string> = new Set([
  ...Object.keys(CONTAINER_FILTERS),
  ...Object.keys(CONTAINER_SCOPE_FLAGS).filter((name) => name !== 'all'),
  ...Object.keys(IMAGE_FILTER_FLAG),
  'id',
]);

/**
 * Returns the query for the given flags; only running containers match by default. Empty values are no conditions.
 * Rejects with UsageError.
 */
export async function containerQuery(flags: ContainerFilterValues): Promise<ContainerQuery> {
  return {
    id: unlessEmpty(flags.id),
    pod: unlessEmpty(flags.pod),
    state: containerState(flags),
    labels: parseLabels(flags.label),
    name: await parseNamePattern(flags.name),
    namespace: await parseNamePattern(flags.namespace),
    image: unlessEmpty(flags.image),
    limit: limitFromFlags(flags),
  };
}

function containerState(flags: ContainerFilterValues): ContainerState | undefined {
  const {all} = flags;
  const state = unlessEmpty(flags.state);
  const named = state === undefined ? undefined : CONTAINER_STATES.get(state.toLowerCase());
  if (state !== undefined && named === undefined)
    throw new UsageError('--state should be one of created, running, exited or unknown');
  if (limitFromFlags(flags) !== undefined) return undefined;
  return named ?? (all === true ? undefined : 'CONTAINER_RUNNING');
}

/** Values of the sandbox filters. */
export type SandboxFilterValues = Omit<ContainerFilterValues, 'pod' | 'image' | 'all'>;

/** Returns the query for the given flags. Empty values are no conditions. Rejects with UsageError. */
export async function sandboxQuery(flags: SandboxFilterValues): Promise<SandboxQuery> {
  const state = unlessEmpty(flags.state);
  const named = state === undefined ? undefined : SANDBOX_STATES.get(state.toLowerCase());
  if (state !== undefined && named === undefined) throw new UsageError('--state should be ready or notready');
  return {
    id: unlessEmpty(flags.id),
    state: named,
    labels: parseLabels(flags.label),
    name: await parseNamePattern(flags.name),
    namespace: await parseNamePattern(flags.namespace),
    limit: limitFromFlags(flags),
  };
}
