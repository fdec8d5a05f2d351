import {EXIT_CODE_FLAG} from '../lists/list-flags.js';
import {FROM_FLAG} from '../../cli/flags/flag-types.js';
import * as Flags from '@oclif/core/flags';
import {outputFlags, type OutputFormatName} from '../../cli/output/parse-output-format.js';
import {POD_SELECTION_FLAGS} from '../pods/pod-selection-flags.js';

/** Returns kubectl's flags of commands that list resources of kcri's pods; `watch` describes the watch. */
export function getFlags(formats: readonly OutputFormatName[], watch: string) {
  return {
    ...POD_SELECTION_FLAGS,
    'all-namespaces': Flags.boolean({
      char: 'A',
      description: 'List pods of all namespaces, and show the namespaces.',
    }),
    'no-headers': Flags.boolean({description: 'Omit the column headers.'}),
    watch: Flags.boolean({char: 'w', description: watch}),
    ...EXIT_CODE_FLAG,
    ...FROM_FLAG,
    ...outputFlags(formats),
  };
}
