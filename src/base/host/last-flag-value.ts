/** Returns the value of the last flag with the name in the arguments of a Go program; undefined without one. Pure. */
export function lastFlagValue(args: readonly string[], name: string): string | undefined {
  const flag = new RegExp(`^--?${name}(?:=(.*))?$`);
  const index = args.findLastIndex((argument) => flag.test(argument));
  return index === -1 ? undefined : (flag.exec(args[index] ?? '')?.[1] ?? args[index + 1]);
}
