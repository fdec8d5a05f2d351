/** Command lines that kcri does not answer as crictl does, by the pattern of their titles, and why. */
const KNOWN: readonly (readonly [title: RegExp, reason: string])[] = [];

/** Why kcri's answer to a command line differs from crictl's; undefined when it must not. */
export function knownDifference(title: string): string | undefined {
  return KNOWN.find(([pattern]) => pattern.test(title))?.[1];
}
