import * as Flags from '@oclif/core/flags';
import {nonEmptyFlags} from './flag-types.js';

/** Flags that select pods, as in kubectl. */
export const POD_SELECTION_FLAGS = nonEmptyFlags({
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
  readonly namespace?: string | undefined;
  readonly selector?: string | undefined;
}
