import * as Flags from '@oclif/core/flags';
import {UsageError} from '../../base/errors.js';
import {nonEmptyFlags, withChoices} from '../../cli/flags/flag-types.js';

/** Values of `--manager`. */
export const POD_MANAGERS = ['kcri', 'kubelet', 'none'] as const;

/** Program that manages a pod; `none` for pods of crictl and other CRI clients. */
export type PodManagerName = (typeof POD_MANAGERS)[number];

/** Flags that select pods, as in kubectl, and by their manager. */
export const POD_SELECTION_FLAGS = nonEmptyFlags({
  manager: withChoices(
    Flags.string({
      helpValue: 'MANAGER',
      description:
        'Select only pods of this manager; none means those of crictl and other CRI clients. [default: all]',
    }),
    POD_MANAGERS,
  ),
  namespace: Flags.string({
    char: 'n',
    helpValue: 'NAMESPACE',
    description: 'Select only pods in this namespace. [default: all]',
  }),
  selector: Flags.string({
    char: 'l',
    helpValue: 'SELECTOR',
    description:
      'Select only pods that match a label selector, such as app=web,tier!=db, "env in (a,b)" or !key.',
  }),
});

/** Values of the pod selection flags. */
export interface PodSelectionFlagValues {
  readonly manager?: string | undefined;
  readonly namespace?: string | undefined;
  readonly selector?: string | undefined;
}

/** Values of the flags that select pods for a list. */
export interface ListedPodFlagValues extends PodSelectionFlagValues {
  readonly 'all-namespaces': boolean;
}

/** Returns the value of `--manager`. Throws UsageError for an unknown one. */
export function parsePodManager(text: string | undefined): PodManagerName | undefined {
  if (text === undefined) return undefined;
  const manager = POD_MANAGERS.find((name) => name === text);
  if (manager === undefined)
    throw new UsageError(`invalid --manager "${text}"`, {hint: `use one of ${POD_MANAGERS.join(', ')}`});
  return manager;
}
