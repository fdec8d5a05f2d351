type Options = Readonly<Record<string, unknown>>;

/** oclif's Flags.custom: what makes flags that take a value, with the same defaults. */
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

/** oclif's Flags.boolean: a flag that is there or not. */
export function boolean(options: Options = {}) {
  return {
    parse: async (given: boolean) => given,
    ...options,
    allowNo: Boolean(options['allowNo']),
    type: 'boolean',
  };
}

/** oclif's Flags.string. */
export const string = custom({});
