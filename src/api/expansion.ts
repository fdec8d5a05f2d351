/**
 * Replaces `$(NAME)` by the value of the variable (third_party/forked/golang/expansion). `$$` is one dollar sign;
 * unknown or unclosed references remain unchanged.
 */
export function expandVariables(text: string, variables: Pick<ReadonlyMap<string, string>, 'get'>): string {
  return text.replace(/\$(?:\$|\(([^)]*)\))/g, (match, name?: string) =>
    name === undefined ? '$' : (variables.get(name) ?? match),
  );
}
