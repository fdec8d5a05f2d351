type Options = Readonly<Record<string, unknown>>;

/** oclif's Args.string: a named argument. */
export function string(options: Options = {}) {
  return {parse: async (input: string) => input, ...options, input: [], type: 'option'};
}
