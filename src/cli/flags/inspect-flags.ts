import * as Flags from '@oclif/core/flags';
import {outputFlag, templateFlag} from '../output/parse-output-format.js';

/** Output formats of inspected objects. */
export const INSPECT_FORMATS = ['json', 'yaml', 'table'] as const;

/** Flags of all `inspect` commands. */
export const INSPECT_FLAGS = {
  output: outputFlag(INSPECT_FORMATS),
  quiet: Flags.boolean({char: 'q', description: 'Omit runtime-specific info.'}),
  template: templateFlag,
};

/** Values of these flags. */
export interface InspectFlags {
  readonly output?: string | undefined;
  readonly template?: string | undefined;
  readonly quiet: boolean;
}
