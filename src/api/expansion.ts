/**
 * Replaces `$(NAME)` by the variable's value (third_party/forked/golang/expansion). `$$` stands for one dollar;
 * what isn't known, or isn't closed, stays as it is.
 */
export function expand(text: string, variables: Pick<ReadonlyMap<string, string>, 'get'>): string {
  return text.replace(/\$(?:\$|\(([^)]*)\))/g, (match, name?: string) =>
    name === undefined ? '$' : (variables.get(name) ?? match),
  );
}
