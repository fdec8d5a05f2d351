type Options = Readonly<Record<string, unknown>>;

/** Defines a named argument, as oclif's Args.string. */
export function string(options: Options = {}) {
  return {parse: async (input: string) => input, ...options, input: [], type: 'option'};
}
