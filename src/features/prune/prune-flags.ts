import * as Flags from '@oclif/core/flags';

/** Flags of commands that ask before they remove anything. */
export const CONFIRMATION_FLAGS = {
  'dry-run': Flags.boolean({description: 'Only print what would be removed.'}),
  yes: Flags.boolean({
    char: 'y',
    aliases: ['force'],
    charAliases: ['f'],
    description: 'Do not ask for confirmation; the same as -f or --force.',
  }),
};
