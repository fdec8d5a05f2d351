type Options = Readonly<Record<string, unknown>>;

/** Returns a flag type that takes a value, as oclif's Flags.custom, with the same defaults. */
export function custom(defaults: Options) {
  return (options: Options = {}) => ({
    parse: async (input: string) => input,
    ...defaults,
    ...options,
    input: [],
    multiple: Boolean(
      options['multiple'] === undefined ? (defaults['multiple'] ?? false) : options['multiple'],
    ),
    type: 'option',
  });
}

/** Defines a flag without a value, as oclif's Flags.boolean. */
export function boolean(options: Options = {}) {
  return {
    parse: async (given: boolean) => given,
    ...options,
    allowNo: Boolean(options['allowNo']),
    type: 'boolean',
  };
}

/** Flag type of text, as oclif's Flags.string. */
export const string = custom({});
