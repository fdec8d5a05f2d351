import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import {nonEmptyFlags} from '../../cli/flags/flag-types.js';
import {POD_SELECTION_FLAGS} from '../pods/pod-selection-flags.js';

/** Argument `TARGET...` of commands for pods and containers of every manager. */
export const TARGET_ARGS = {
  target: Args.string({
    multiple: true,
    ignoreStdin: true,
    description:
      'Pod or container: ID, ID prefix, name, NAMESPACE/POD, pod/NAME, or POD/CONTAINER; or the pods of a workload, such ' +
      'as deployment/web.',
  }),
};

/** Flags that select pods and containers besides words. */
export const TARGET_FLAGS = {
  ...POD_SELECTION_FLAGS,
  ...nonEmptyFlags({
    container: Flags.string({
      char: 'c',
      helpValue: 'NAME',
      description: 'Select this container of the named pods.',
    }),
    pod: Flags.string({
      char: 'p',
      helpValue: 'POD',
      description: 'Look up names among the containers of this pod; without names, select the pod.',
    }),
  }),
};
