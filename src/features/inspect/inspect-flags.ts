import * as Flags from '@oclif/core/flags';
import {kcriOnlyFlags} from '../../cli/flags/flag-types.js';
import type {OutputFlagValues} from '../../cli/output/output-format.js';
import {NO_HEADERS_FLAG, outputFlags} from '../../cli/output/parse-output-format.js';

/** Output formats of inspected objects. */
export const INSPECT_FORMATS = ['json', 'yaml', 'table'] as const;

/** Flags of all `inspect` commands. */
export const INSPECT_FLAGS = {
  ...outputFlags(INSPECT_FORMATS),
  ...NO_HEADERS_FLAG,
  quiet: Flags.boolean({char: 'q', description: 'Omit runtime-specific info.'}),
};

/** Flag of the `inspect` commands of what has a config. */
export const EXPLAIN_FLAG = kcriOnlyFlags({
  explain: Flags.boolean({
    description:
      'Show the config that the runtime received, and where each of its values comes from, as "describe --explain". ' +
      'With -o json and yaml, as data.',
  }),
});

/** Values of these flags. */
export interface InspectFlags extends OutputFlagValues {
  readonly quiet: boolean;
  readonly explain?: boolean;
}
