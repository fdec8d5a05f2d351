import * as Flags from '@oclif/core/flags';
import {outputFlags} from '../../cli/output/parse-output-format.js';
import {integerFlag, listFlag, nonEmptyFlags} from '../../cli/flags/flag-types.js';
import {listFlags, type ListFlagValues} from '../lists/list-flags.js';

/** Output formats of stats. */
export const STATS_FORMATS = ['table', 'wide', 'json', 'yaml'] as const;

/** Returns the flags of both `stats` and `statsp`. */
export function statsFlags(orders: Readonly<Record<string, unknown>>) {
  const {sort, reverse, 'no-headers': noHeaders} = listFlags(orders);
  return {
    ...nonEmptyFlags({
      label: listFlag({
        helpValue: 'KEY=VALUE',
        description: 'Select only objects with this label. Can be repeated.',
      }),
    }),
    ...outputFlags(STATS_FORMATS),
    seconds: integerFlag({
      char: 's',
      default: 1,
      helpValue: 'N',
      description: 'Time between two samples, in seconds. [default: 1]',
    }),
    watch: Flags.boolean({char: 'w', description: 'Refresh until interrupted.'}),
    sort,
    reverse,
    'no-headers': noHeaders,
  };
}
/** Values of the stats flags. */
export interface StatsFlagValues extends ListFlagValues {
  readonly seconds: number;
  readonly watch: boolean;
}
