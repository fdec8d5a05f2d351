/**
 * Replaces `$(NAME)` by the variable's value (third_party/forked/golang/expansion). `$$` is one dollar; unknown or
 * unclosed references stay unchanged.
 */
export function expandVariables(text: string, variables: Pick<ReadonlyMap<string, string>, 'get'>): string {
  return text.replace(/\$(?:\$|\(([^)]*)\))/g, (match, name?: string) =>
    name === undefined ? '$' : (variables.get(name) ?? match),
  );
}
