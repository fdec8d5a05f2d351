import * as Flags from '@oclif/core/flags';
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

/** Values of these flags. */
export interface InspectFlags extends OutputFlagValues {
  readonly quiet: boolean;
}
