import * as Flags from '@oclif/core/flags';
import {UsageError} from '../base/errors.js';
import type {ContainerState, PodSandboxState} from '../cri/index.js';
import type {ContainerQuery} from '../operations/containers.js';
import {limitOf, namePattern, parseLabels} from '../operations/filters.js';
import type {SandboxQuery} from '../operations/sandboxes.js';
import {integerFlag, listFlag} from './flags.js';

const POD = {helpValue: 'POD', description: 'Only containers of a pod, by id, name, NAMESPACE/NAME or UID.'};

/** `--pod` without a letter, for commands whose `-p` is something else. */
export const longPodFlag = Flags.string(POD);

/** What `ps`, `inspect` and `exec` choose containers by. */
export const CONTAINER_FILTERS = {
  name: Flags.string({
    helpValue: 'REGEX',
    description: 'Only containers whose name matches a regular expression.',
  }),
  pod: Flags.string({...POD, char: 'p'}),
  image: Flags.string({
    helpValue: 'IMAGE',
    description: 'Only containers of an image, by id or name, with any tag unless it has one.',
  }),
  label: listFlag({helpValue: 'KEY=VALUE', description: 'Only containers with a label.'}),
  latest: Flags.boolean({char: 'l', description: 'Only the newest container, in whatever state.'}),
  last: integerFlag({
    char: 'n',
    helpValue: 'N',
    description: 'Only the newest N containers, in whatever state; 0 for all.',
  }),
};

/** What `pods` and `inspectp` choose sandboxes by. */
export const SANDBOX_FILTERS = {
  name: Flags.string({
    helpValue: 'REGEX',
    description: 'Only pods whose name matches a regular expression.',
  }),
  namespace: Flags.string({
    helpValue: 'REGEX',
    description: 'Only pods whose namespace matches a regular expression.',
  }),
  state: Flags.string({char: 's', description: 'Only pods in a state.', helpValue: 'ready|notready'}),
  label: listFlag({helpValue: 'KEY=VALUE', description: 'Only pods with a label.'}),
  latest: Flags.boolean({char: 'l', description: 'Only the newest pod.'}),
  last: integerFlag({char: 'n', helpValue: 'N', description: 'Only the newest N pods; 0 for all.'}),
};

/** `--filter`: what `images` and `inspecti` choose images by. */
export const IMAGE_FILTER = listFlag({
  char: 'f',
  helpValue: 'CONDITION',
  description:
    'Only images that fit: dangling=true|false, reference=REGULAR-EXPRESSION, before=IMAGE, since=IMAGE.',
});

/** The values of these flags. */
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

const CONTAINER_STATES: ReadonlyMap<string, ContainerState> = new Map([
  ['created', 'CONTAINER_CREATED'],
  ['running', 'CONTAINER_RUNNING'],
  ['exited', 'CONTAINER_EXITED'],
  ['unknown', 'CONTAINER_UNKNOWN'],
]);

const SANDBOX_STATES: ReadonlyMap<string, PodSandboxState> = new Map([
  ['ready', 'SANDBOX_READY'],
  ['notready', 'SANDBOX_NOTREADY'],
]);

/** True when a flag narrows down which containers are meant; `--all` does not. */
export function isFiltered(flags: ContainerFilterValues): boolean {
  const {id, name, namespace, pod, image, state, label, latest, last} = flags;
  return (
    latest === true ||
    [id, name, namespace, pod, image, state, label, last].some((value) => value !== undefined)
  );
}

/** Throws UsageError for a filter that is given and empty: it would let everything through. */
export function checkNotEmpty(flags: ContainerFilterValues): void {
  const {id, name, namespace, pod, image, state} = flags;
  const [empty] =
    Object.entries({id, name, namespace, pod, image, state}).find(([, value]) => value === '') ?? [];
  if (empty !== undefined)
    throw new UsageError(`--${empty} is empty`, {
      hint: 'leave it out, or check the variable that it comes from',
    });
}

/** The containers that flags choose: running ones unless they say otherwise. Throws UsageError. */
export function containerQuery(flags: ContainerFilterValues): ContainerQuery {
  return {
    id: flags.id,
    pod: flags.pod,
    state: containerState(flags),
    labels: parseLabels(flags.label),
    name: namePattern(flags.name),
    namespace: namePattern(flags.namespace),
    image: flags.image,
    limit: limitOf(flags),
  };
}

function containerState(flags: ContainerFilterValues): ContainerState | undefined {
  const {state, all} = flags;
  const named = state === undefined ? undefined : CONTAINER_STATES.get(state.toLowerCase());
  if (state !== undefined && named === undefined)
    throw new UsageError('--state should be one of created, running, exited or unknown');
  if (limitOf(flags) !== undefined) return undefined;
  return named ?? (all === true ? undefined : 'CONTAINER_RUNNING');
}

/** The values of the flags that choose sandboxes. */
export type SandboxFilterValues = Omit<ContainerFilterValues, 'pod' | 'image' | 'all'>;

/** The sandboxes that flags choose. Throws UsageError. */
export function sandboxQuery(flags: SandboxFilterValues): SandboxQuery {
  const {state} = flags;
  const named = state === undefined ? undefined : SANDBOX_STATES.get(state.toLowerCase());
  if (state !== undefined && named === undefined) throw new UsageError('--state should be ready or notready');
  return {
    id: flags.id,
    state: named,
    labels: parseLabels(flags.label),
    name: namePattern(flags.name),
    namespace: namePattern(flags.namespace),
    limit: limitOf(flags),
  };
}
